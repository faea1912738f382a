using '../main.bicep'

// What belongs to a tenant comes from the environment of whoever deploys: infra/README.md lists it.
// What stands here in its place only lets this file compile anywhere.

param environmentName = 'uat'
param privateNetwork = true
param network = { addressPrefix: '10.60.4.0/22', trustedNetworks: [] }
param serviceBusSku = 'Premium'
param sqlServerless = true
param logs = { retentionDays: 30, dailyQuotaGb: 10 }

param sqlAdministrators = {
  name: readEnvironmentVariable('SQL_ADMINISTRATORS_NAME', 'extractor-sql-administrators')
  objectId: readEnvironmentVariable('SQL_ADMINISTRATORS_ID', '00000000-0000-0000-0000-000000000000')
}

param app = {
  registrationAudience: readEnvironmentVariable('REGISTRATION_AUDIENCE', 'api://extractor-service-uat')
  authAudiences: split(readEnvironmentVariable('AUTH_AUDIENCES', '00000000-0000-0000-0000-000000000000'), ',')
}

param extractorPrincipals = json(readEnvironmentVariable('EXTRACTOR_PRINCIPALS', '[]'))
param fileServicePrincipals = json(readEnvironmentVariable('FILE_SERVICE_PRINCIPALS', '[]'))
param statusServicePrincipals = json(readEnvironmentVariable('STATUS_SERVICE_PRINCIPALS', '[]'))
param deployerPrincipals = json(readEnvironmentVariable('DEPLOYER_PRINCIPALS', '[]'))

param alerts = {
  emails: json(readEnvironmentVariable('ALERT_EMAILS', '[]'))
  webhooks: json(readEnvironmentVariable('ALERT_WEBHOOKS', '[]'))
}
