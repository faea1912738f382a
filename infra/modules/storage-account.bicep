metadata description = 'A storage account as every account of the service is: no keys, nothing public, deletions can be undone.'

import { onlyLogs } from '../diagnostics.bicep'
import { Common } from '../types.bicep'

param common Common
param name string

@description('Standard_LRS, Standard_ZRS, Standard_GZRS, …')
param sku string
param containers string[]

@description('Rules of the lifecycle management policy.')
param lifecycleRules resourceInput<'Microsoft.Storage/storageAccounts/managementPolicies@2025-06-01'>.properties.policy.rules

@description('How long a deleted blob or container can be brought back.')
@minValue(1)
@maxValue(365)
param undeleteDays int

resource account 'Microsoft.Storage/storageAccounts@2025-06-01' = {
  name: name
  location: common.location
  tags: common.tags
  kind: 'StorageV2'
  sku: { name: sku }
  properties: {
    accessTier: 'Hot'
    allowBlobPublicAccess: false
    allowCrossTenantReplication: false
    allowSharedKeyAccess: false
    defaultToOAuthAuthentication: true
    minimumTlsVersion: 'TLS1_2'
    supportsHttpsTrafficOnly: true
    publicNetworkAccess: common.publicNetwork ? 'Enabled' : 'Disabled'
    networkAcls: {
      bypass: 'None'
      defaultAction: common.publicNetwork ? 'Allow' : 'Deny'
    }
  }
}

resource blobs 'Microsoft.Storage/storageAccounts/blobServices@2025-06-01' = {
  parent: account
  name: 'default'
  properties: {
    deleteRetentionPolicy: { enabled: true, days: undeleteDays }
    containerDeleteRetentionPolicy: { enabled: true, days: undeleteDays }
  }

  resource container 'containers' = [
    for container in containers: {
      name: container
      properties: { publicAccess: 'None' }
    }
  ]
}

resource queues 'Microsoft.Storage/storageAccounts/queueServices@2025-06-01' = {
  parent: account
  name: 'default'
}

resource tables 'Microsoft.Storage/storageAccounts/tableServices@2025-06-01' = {
  parent: account
  name: 'default'
}

resource lifecycle 'Microsoft.Storage/storageAccounts/managementPolicies@2025-06-01' = {
  parent: account
  name: 'default'
  properties: { policy: { rules: lifecycleRules } }
}

resource accountMetrics 'Microsoft.Insights/diagnosticSettings@2021-05-01-preview' = {
  name: 'to-workspace'
  scope: account
  properties: {
    workspaceId: common.workspaceId
    metrics: [{ category: 'Transaction', enabled: true }]
  }
}

resource blobLogs 'Microsoft.Insights/diagnosticSettings@2021-05-01-preview' = {
  name: 'to-workspace'
  scope: blobs
  properties: onlyLogs(common.workspaceId)
}

resource queueLogs 'Microsoft.Insights/diagnosticSettings@2021-05-01-preview' = {
  name: 'to-workspace'
  scope: queues
  properties: onlyLogs(common.workspaceId)
}

resource tableLogs 'Microsoft.Insights/diagnosticSettings@2021-05-01-preview' = {
  name: 'to-workspace'
  scope: tables
  properties: onlyLogs(common.workspaceId)
}
