metadata description = 'What the app may do. README.md has the table of who may do what, and why.'

import { grant, roles } from '../roles.bicep'
import { topics } from '../topology.bicep'
import { Common } from '../types.bicep'

param common Common
param documentsContainers string[]
param durableBackend 'storage' | 'scheduler'

var sentTo = filter(topics, topic => topic.sends)
var hostRoles = durableBackend == 'storage'
  ? [roles.storageBlobDataOwner, roles.storageQueueDataContributor, roles.storageTableDataContributor]
  : [roles.storageBlobDataOwner]

resource app 'Microsoft.ManagedIdentity/userAssignedIdentities@2024-11-30' existing = {
  name: common.name.appIdentity
}

resource hostStorage 'Microsoft.Storage/storageAccounts@2025-06-01' existing = {
  name: common.name.hostStorage
}

resource documents 'Microsoft.Storage/storageAccounts@2025-06-01' existing = {
  name: common.name.documentsStorage

  resource blobs 'blobServices' existing = {
    name: 'default'
  }
}

resource container 'Microsoft.Storage/storageAccounts/blobServices/containers@2025-06-01' existing = [
  for name in documentsContainers: {
    parent: documents::blobs
    name: name
  }
]

resource namespace 'Microsoft.ServiceBus/namespaces@2024-01-01' existing = {
  name: common.name.serviceBus
}

resource topic 'Microsoft.ServiceBus/namespaces/topics@2024-01-01' existing = [
  for topic in topics: {
    parent: namespace
    name: topic.name
  }
]

resource subscription 'Microsoft.ServiceBus/namespaces/topics/subscriptions@2024-01-01' existing = [
  for (each, i) in topics: {
    parent: topic[i]
    name: each.subscription.name
  }
]

resource sentTopic 'Microsoft.ServiceBus/namespaces/topics@2024-01-01' existing = [
  for topic in sentTo: {
    parent: namespace
    name: topic.name
  }
]

resource vault 'Microsoft.KeyVault/vaults@2024-11-01' existing = {
  name: common.name.keyVault
}

resource applicationInsights 'Microsoft.Insights/components@2020-02-02' existing = {
  name: common.name.applicationInsights
}

resource taskHub 'Microsoft.DurableTask/schedulers/taskHubs@2026-02-01' existing = {
  name: '${common.name.scheduler}/${common.name.taskHub}'
}

resource runHost 'Microsoft.Authorization/roleAssignments@2022-04-01' = [
  for role in hostRoles: {
    name: guid(hostStorage.id, app.id, role)
    scope: hostStorage
    properties: grant(app.properties.principalId, 'ServicePrincipal', role)
  }
]

resource keepOrchestrations 'Microsoft.Authorization/roleAssignments@2022-04-01' = if (durableBackend == 'scheduler') {
  name: guid(taskHub.id, app.id, roles.durableTaskDataContributor)
  scope: taskHub
  properties: grant(app.properties.principalId, 'ServicePrincipal', roles.durableTaskDataContributor)
}

resource signLinks 'Microsoft.Authorization/roleAssignments@2022-04-01' = {
  name: guid(documents.id, app.id, roles.storageBlobDelegator)
  scope: documents
  properties: grant(app.properties.principalId, 'ServicePrincipal', roles.storageBlobDelegator)
}

resource readDocuments 'Microsoft.Authorization/roleAssignments@2022-04-01' = [
  for (name, i) in documentsContainers: {
    name: guid(container[i].id, app.id, roles.storageBlobDataReader)
    scope: container[i]
    properties: grant(app.properties.principalId, 'ServicePrincipal', roles.storageBlobDataReader)
  }
]

resource receive 'Microsoft.Authorization/roleAssignments@2022-04-01' = [
  for (each, i) in topics: {
    name: guid(subscription[i].id, app.id, roles.serviceBusDataReceiver)
    scope: subscription[i]
    properties: grant(app.properties.principalId, 'ServicePrincipal', roles.serviceBusDataReceiver)
  }
]

resource send 'Microsoft.Authorization/roleAssignments@2022-04-01' = [
  for (each, i) in sentTo: {
    name: guid(sentTopic[i].id, app.id, roles.serviceBusDataSender)
    scope: sentTopic[i]
    properties: grant(app.properties.principalId, 'ServicePrincipal', roles.serviceBusDataSender)
  }
]

resource readCallbackKeys 'Microsoft.Authorization/roleAssignments@2022-04-01' = {
  name: guid(vault.id, app.id, roles.keyVaultSecretsUser)
  scope: vault
  properties: grant(app.properties.principalId, 'ServicePrincipal', roles.keyVaultSecretsUser)
}

resource sendTelemetry 'Microsoft.Authorization/roleAssignments@2022-04-01' = {
  name: guid(applicationInsights.id, app.id, roles.monitoringMetricsPublisher)
  scope: applicationInsights
  properties: grant(app.properties.principalId, 'ServicePrincipal', roles.monitoringMetricsPublisher)
}
