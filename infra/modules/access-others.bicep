metadata description = 'What others may do: extractors, the file service, the Status service, whoever deploys. README.md has the table.'

import { grant, roles } from '../roles.bicep'
import { topics } from '../topology.bicep'
import { Common, Principal } from '../types.bicep'
import { releasesContainer } from 'host-storage.bicep'

param common Common
param extractors Principal[]
param fileServices Principal[]
param statusServices Principal[]
param deployers Principal[]

@description('Containers that the file service may write; none in an account of another owner.')
param documentsContainers string[]

var acceptedFileTopic = filter(topics, topic => topic.setting == 'ACCEPTED_FILE')[0]
var jobStatusTopic = filter(topics, topic => topic.setting == 'JOB_STATUS')[0]
var writers = flatten(map(
  documentsContainers,
  container => map(fileServices, service => { container: container, principal: service })
))

resource namespace 'Microsoft.ServiceBus/namespaces@2024-01-01' existing = {
  name: common.name.serviceBus

  resource acceptedFile 'topics' existing = {
    name: acceptedFileTopic.name
  }

  resource jobStatus 'topics' existing = {
    name: jobStatusTopic.name

    resource statusService 'subscriptions' existing = {
      name: jobStatusTopic.statusService!.name
    }
  }
}

resource container 'Microsoft.Storage/storageAccounts/blobServices/containers@2025-06-01' existing = [
  for writer in writers: {
    name: '${common.name.documentsStorage}/default/${writer.container}'
  }
]

resource releases 'Microsoft.Storage/storageAccounts/blobServices/containers@2025-06-01' existing = {
  name: '${common.name.hostStorage}/default/${releasesContainer}'
}

resource vault 'Microsoft.KeyVault/vaults@2024-11-01' existing = {
  name: common.name.keyVault
}

resource reportStatus 'Microsoft.Authorization/roleAssignments@2022-04-01' = [
  for extractor in extractors: {
    name: guid(namespace::jobStatus.id, extractor.principalId, roles.serviceBusDataSender)
    scope: namespace::jobStatus
    properties: grant(extractor.principalId, extractor.principalType, roles.serviceBusDataSender)
  }
]

resource acceptFiles 'Microsoft.Authorization/roleAssignments@2022-04-01' = [
  for service in fileServices: {
    name: guid(namespace::acceptedFile.id, service.principalId, roles.serviceBusDataSender)
    scope: namespace::acceptedFile
    properties: grant(service.principalId, service.principalType, roles.serviceBusDataSender)
  }
]

resource writeDocuments 'Microsoft.Authorization/roleAssignments@2022-04-01' = [
  for (writer, i) in writers: {
    name: guid(container[i].id, writer.principal.principalId, roles.storageBlobDataContributor)
    scope: container[i]
    properties: grant(writer.principal.principalId, writer.principal.principalType, roles.storageBlobDataContributor)
  }
]

resource hearStatus 'Microsoft.Authorization/roleAssignments@2022-04-01' = [
  for service in statusServices: {
    name: guid(namespace::jobStatus::statusService.id, service.principalId, roles.serviceBusDataReceiver)
    scope: namespace::jobStatus::statusService
    properties: grant(service.principalId, service.principalType, roles.serviceBusDataReceiver)
  }
]

resource keepReleases 'Microsoft.Authorization/roleAssignments@2022-04-01' = [
  for deployer in deployers: {
    name: guid(releases.id, deployer.principalId, roles.storageBlobDataContributor)
    scope: releases
    properties: grant(deployer.principalId, deployer.principalType, roles.storageBlobDataContributor)
  }
]

resource setCallbackKeys 'Microsoft.Authorization/roleAssignments@2022-04-01' = [
  for deployer in deployers: {
    name: guid(vault.id, deployer.principalId, roles.keyVaultSecretsOfficer)
    scope: vault
    properties: grant(deployer.principalId, deployer.principalType, roles.keyVaultSecretsOfficer)
  }
]
