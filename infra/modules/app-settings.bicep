metadata description = 'Every setting of the app, by the names of shared/settings.py and of the Functions host; none is a secret.'

import { topics } from '../topology.bicep'
import { App, Common } from '../types.bicep'

param common Common

@description('Where the app is reached.')
param url string
param durableBackend 'storage' | 'scheduler'
param app App

@description('Functions that are switched off, by name.')
param disabledFunctions string[]
param build { version: string, commit: string }

var name = common.name
var suffixes = environment().suffixes
var tenantId = app.?authTenant ?? tenant().tenantId
var authority = '${environment().authentication.loginEndpoint}${tenantId}'

resource site 'Microsoft.Web/sites@2025-03-01' existing = {
  name: common.name.functionApp
}

resource identity 'Microsoft.ManagedIdentity/userAssignedIdentities@2024-11-30' existing = {
  name: name.appIdentity
}

resource applicationInsights 'Microsoft.Insights/components@2020-02-02' existing = {
  name: common.name.applicationInsights
}

resource scheduler 'Microsoft.DurableTask/schedulers@2026-02-01' existing = if (durableBackend == 'scheduler') {
  name: name.scheduler
}

var clientId = identity.properties.clientId

var host = {
  AZURE_CLIENT_ID: clientId
  // Threads of an instance: it is given up to 20 activities (host.json) or 16 HTTP calls at once.
  PYTHON_THREADPOOL_THREAD_COUNT: '32'
  AzureWebJobsStorage__blobServiceUri: 'https://${name.hostStorage}.blob.${suffixes.storage}'
  AzureWebJobsStorage__queueServiceUri: 'https://${name.hostStorage}.queue.${suffixes.storage}'
  AzureWebJobsStorage__tableServiceUri: 'https://${name.hostStorage}.table.${suffixes.storage}'
  AzureWebJobsStorage__credential: 'managedidentity'
  AzureWebJobsStorage__clientId: clientId
  APPLICATIONINSIGHTS_CONNECTION_STRING: applicationInsights.properties.ConnectionString
  APPLICATIONINSIGHTS_AUTHENTICATION_STRING: 'ClientId=${clientId};Authorization=AAD'
}

// The scheduler's take the place of storageProvider in host.json.
var durable = durableBackend == 'storage'
  ? { DURABLE_HUB_NAME: name.taskHub }
  : {
      DURABLE_HUB_NAME: name.taskHub
      DURABLE_TASK_SCHEDULER_CONNECTION_STRING: 'Endpoint=${scheduler!.properties.endpoint};Authentication=ManagedIdentity;ClientID=${clientId}'
      AzureFunctionsJobHost__extensions__durableTask__storageProvider__type: 'azureManaged'
      AzureFunctionsJobHost__extensions__durableTask__storageProvider__connectionStringName: 'DURABLE_TASK_SCHEDULER_CONNECTION_STRING'
    }

var messages = union(
  {
    AZURE_SERVICE_BUS_CONNECTION_STRING__fullyQualifiedNamespace: '${name.serviceBus}.servicebus.windows.net'
    AZURE_SERVICE_BUS_CONNECTION_STRING__credential: 'managedidentity'
    AZURE_SERVICE_BUS_CONNECTION_STRING__clientId: clientId
  },
  toObject(topics, topic => 'TOPIC_${topic.setting}', topic => topic.name),
  toObject(topics, topic => 'SUBSCRIPTION_${topic.setting}', topic => topic.subscription.name)
)

var surroundings = {
  // Without a user: the app logs in with tokens of its identity.
  DATABASE_URL: 'mssql+pyodbc://@${name.sqlServer}${suffixes.sqlServerHostname}/${name.sqlDatabase}?Encrypt=yes&TrustServerCertificate=no'
  BLOB_ACCOUNT_URL: 'https://${name.documentsStorage}.blob.${suffixes.storage}'
  REGISTRATION_URL: app.?registrationUrl ?? url
  REGISTRATION_AUDIENCE: app.registrationAudience
  AUTH_ISSUERS: join(app.?authIssuers ?? map(app.authAudiences, _ => '${authority}/v2.0'), ',')
  AUTH_AUDIENCES: join(app.authAudiences, ',')
  AUTH_JWKS_URL: app.?authJwksUrl ?? '${authority}/discovery/v2.0/keys'
  AUTH_TENANT: tenantId
  PUBLIC_URL: url
  // Without a version, so that a rotated secret arrives by itself.
  CALLBACK_KEYS: '@Microsoft.KeyVault(SecretUri=https://${name.keyVault}${suffixes.keyvaultDns}/secrets/callback-keys)'
  BUILD_VERSION: build.version
  BUILD_COMMIT: build.commit
}

var tunables = {
  JOB_CALL_TIMEOUT_MINUTES: string(app.?jobCallTimeoutMinutes ?? 60)
  JOB_START_TIMEOUT_MINUTES: string(app.?jobStartTimeoutMinutes ?? 15)
  JOB_RUN_TIMEOUT_MINUTES: string(app.?jobRunTimeoutMinutes ?? 60)
  JOB_MAX_WAIT_HOURS: string(app.?jobMaxWaitHours ?? 48)
  SIGNED_URL_MINUTES: string(app.?signedUrlMinutes ?? 90)
  EXTRACTOR_MAX_ACTIVE_JOBS: string(app.?extractorMaxActiveJobs ?? 100)
  AUTO_RETRY_ENABLED: app.?autoRetryEnabled ?? true ? 'true' : 'false'
  RETRY_BACKOFF_SECONDS: string(app.?retryBackoffSeconds ?? 30)
  RETRY_BACKOFF_MAX_SECONDS: string(app.?retryBackoffMaxSeconds ?? 3600)
  PURGE_AFTER_DAYS: string(app.?purgeAfterDays ?? 30)
  PURGE_JOBS: app.?purgeJobs ?? false ? 'true' : 'false'
}

var switchedOff = toObject(disabledFunctions, function => 'AzureWebJobs_${function}_Disabled', _ => 'true')

resource settings 'Microsoft.Web/sites/config@2025-03-01' = {
  parent: site
  name: 'appsettings'
  properties: union(host, durable, messages, surroundings, tunables, switchedOff)
}
