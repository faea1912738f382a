metadata description = 'The Extractor Service in one resource group. This file only composes; modules/ has one concern each.'

import { releasesContainer as releases } from 'modules/host-storage.bicep'
import { Existing, namesOf, Names } from 'names.bicep'
import { Delivery } from 'topology.bicep'
import { App, Common, Logs, Network, Principal, Recipients, Scale, SqlAdministrators, Tags } from 'types.bicep'

param environmentName 'dev' | 'qa' | 'uat' | 'prod'
param location string = resourceGroup().location
param tags Tags = { service: 'extractor', environment: environmentName }
param names Names = {}
param existing Existing = {}

@description('Puts the app into a network of its own and closes every store to all others.')
param privateNetwork bool
param network Network = { addressPrefix: '10.60.0.0/22', trustedNetworks: [] }

@description('Premium has the private endpoints that privateNetwork needs.')
param serviceBusSku 'Standard' | 'Premium'
param delivery Delivery = { timeToLiveDays: 7, duplicateDetectionMinutes: 1, lockMinutes: 5, maxDeliveryCount: 10 }

@description('Where orchestrations are kept: in the storage account of the host, or in a Durable Task Scheduler.')
param durableBackend 'storage' | 'scheduler' = 'storage'

@description('Billed by the second and paused when unused, or always there.')
param sqlServerless bool
param sqlAdministrators SqlAdministrators

@description('Containers that hold accepted files.')
@minLength(1)
param documentsContainers string[] = ['documents']

@description('Spreads everything over the zones of the region.')
param zoneRedundant bool = false
param scale Scale = { instanceMemoryMB: 2048, maximumInstances: 40, readyInstances: 0 }
param app App
param disabledFunctions string[] = []

@description('May send to the topic of job statuses, and nothing else.')
param extractorPrincipals Principal[] = []

@description('May store documents and send to the topic of accepted files.')
param fileServicePrincipals Principal[] = []

@description('May receive from the subscription of the Status service.')
param statusServicePrincipals Principal[] = []

@description('May keep releases and set the call-back keys.')
param deployerPrincipals Principal[] = []
param alerts Recipients
param logs Logs = { retentionDays: 90, dailyQuotaGb: -1 }
param buildVersion string = 'dev'
param buildCommit string = 'unknown'

var name = namesOf(environmentName, take(uniqueString(resourceGroup().id), 6), names, existing)
var createDocuments = empty(existing.?documentsAccount)
var common Common = {
  location: location
  tags: tags
  name: name
  publicNetwork: !privateNetwork
  zoneRedundant: zoneRedundant
  workspaceId: resourceId('Microsoft.OperationalInsights/workspaces', name.logAnalytics)
}

module identities 'modules/identities.bicep' = {
  params: { common: common }
}

module monitoring 'modules/monitoring.bicep' = {
  params: { common: common, logs: logs }
}

module hostStorage 'modules/host-storage.bicep' = {
  params: { common: common }
  dependsOn: [monitoring]
}

module documents 'modules/documents-storage.bicep' = {
  params: { common: common, create: createDocuments, containers: documentsContainers }
  dependsOn: [monitoring]
}

module serviceBus 'modules/service-bus.bicep' = {
  params: { common: common, create: empty(existing.?serviceBusNamespace), sku: serviceBusSku, delivery: delivery }
  dependsOn: [monitoring]
}

module sql 'modules/sql.bicep' = {
  params: {
    common: common
    createServer: empty(existing.?sqlServer)
    createDatabase: empty(existing.?sqlDatabase)
    administrators: sqlAdministrators
    serverless: sqlServerless
  }
  dependsOn: [monitoring]
}

module keyVault 'modules/key-vault.bicep' = {
  params: { common: common }
  dependsOn: [monitoring]
}

module scheduler 'modules/durable-scheduler.bicep' = if (durableBackend == 'scheduler') {
  params: { common: common }
  dependsOn: [monitoring]
}

module virtualNetwork 'modules/network.bicep' = if (privateNetwork) {
  params: { common: common, network: network }
  dependsOn: [monitoring]
}

module privateEndpoints 'modules/private-endpoints.bicep' = if (privateNetwork) {
  params: { common: common, durableBackend: durableBackend }
  dependsOn: [virtualNetwork, hostStorage, documents, serviceBus, sql, keyVault, scheduler]
}

module appAccess 'modules/access-app.bicep' = {
  params: { common: common, documentsContainers: documentsContainers, durableBackend: durableBackend }
  dependsOn: [identities, hostStorage, documents, serviceBus, keyVault, scheduler]
}

module othersAccess 'modules/access-others.bicep' = {
  params: {
    common: common
    extractors: extractorPrincipals
    fileServices: fileServicePrincipals
    statusServices: statusServicePrincipals
    deployers: deployerPrincipals
    documentsContainers: createDocuments ? documentsContainers : []
  }
  dependsOn: [hostStorage, documents, serviceBus, keyVault]
}

module functionApp 'modules/function-app.bicep' = {
  params: { common: common, scale: scale }
  dependsOn: [appAccess, privateEndpoints]
}

module appSettings 'modules/app-settings.bicep' = {
  params: {
    common: common
    url: functionApp.outputs.url
    durableBackend: durableBackend
    app: app
    disabledFunctions: disabledFunctions
    build: { version: buildVersion, commit: buildCommit }
  }
}

module alertRules 'modules/alerts.bicep' = {
  params: {
    location: location
    tags: tags
    environmentName: environmentName
    emails: alerts.emails
    webhooks: alerts.webhooks
    functionAppId: resourceId('Microsoft.Web/sites', name.functionApp)
    functionAppUrl: functionApp.outputs.url
    serviceBusNamespaceId: resourceId('Microsoft.ServiceBus/namespaces', name.serviceBus)
    sqlDatabaseId: resourceId('Microsoft.Sql/servers/databases', name.sqlServer, name.sqlDatabase)
    hostStorageId: resourceId('Microsoft.Storage/storageAccounts', name.hostStorage)
    documentsStorageId: resourceId('Microsoft.Storage/storageAccounts', name.documentsStorage)
    keyVaultId: resourceId('Microsoft.KeyVault/vaults', name.keyVault)
    applicationInsightsId: resourceId('Microsoft.Insights/components', name.applicationInsights)
    workspaceId: common.workspaceId
  }
  dependsOn: [monitoring, hostStorage, documents, serviceBus, sql, keyVault]
}

module workbook 'modules/workbook.bicep' = {
  params: {
    location: location
    tags: tags
    workspaceId: common.workspaceId
    applicationInsightsId: resourceId('Microsoft.Insights/components', name.applicationInsights)
    serviceBusNamespaceId: resourceId('Microsoft.ServiceBus/namespaces', name.serviceBus)
  }
  dependsOn: [monitoring]
}

output functionAppName string = name.functionApp
output functionAppUrl string = functionApp.outputs.url
output releasesAccountName string = name.hostStorage
output releasesContainer string = releases
output serviceBusNamespaceFqdn string = '${name.serviceBus}.servicebus.windows.net'
output sqlServerFqdn string = '${name.sqlServer}${environment().suffixes.sqlServerHostname}'
output sqlDatabaseName string = name.sqlDatabase
output documentsAccountName string = name.documentsStorage
output documentsContainer string = documentsContainers[0]
output appIdentityName string = name.appIdentity
output appIdentityClientId string = identities.outputs.appClientId
output migrationIdentityName string = name.migrationIdentity
output migrationIdentityClientId string = identities.outputs.migrationClientId
output keyVaultName string = name.keyVault
output logAnalyticsName string = name.logAnalytics
output applicationInsightsName string = name.applicationInsights
