using '../main.bicep'

param environmentName = 'dev'
param privateNetwork = false
param serviceBusSku = 'Standard'
param sqlServerless = true
param logs = { retentionDays: 30, dailyQuotaGb: 1 }

param sqlAdministrators = {
  name: readEnvironmentVariable('SQL_ADMINISTRATORS_NAME', 'extractor-sql-administrators')
  objectId: readEnvironmentVariable('SQL_ADMINISTRATORS_ID', '00000000-0000-0000-0000-000000000001')
}

param app = {
  registrationAudience: readEnvironmentVariable('REGISTRATION_AUDIENCE', 'api://extractor-service')
  authAudiences: split(readEnvironmentVariable('AUTH_AUDIENCES', 'api://extractor-service'), ',')
}

param extractorPrincipals = json(readEnvironmentVariable('EXTRACTOR_PRINCIPALS', '[]'))
param fileServicePrincipals = json(readEnvironmentVariable('FILE_SERVICE_PRINCIPALS', '[]'))
param statusServicePrincipals = json(readEnvironmentVariable('STATUS_SERVICE_PRINCIPALS', '[]'))
param deployerPrincipals = json(readEnvironmentVariable('DEPLOYER_PRINCIPALS', '[]'))

param alerts = {
  emails: json(readEnvironmentVariable('ALERT_EMAILS', '[]'))
  webhooks: json(readEnvironmentVariable('ALERT_WEBHOOKS', '[]'))
}

param buildVersion = readEnvironmentVariable('BUILD_VERSION', 'dev')
param buildCommit = readEnvironmentVariable('BUILD_COMMIT', 'unknown')
