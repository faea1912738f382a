metadata description = 'The Key Vault. It holds one secret, which no template ever sees: callback-keys.'

import { logsAndMetrics } from '../diagnostics.bicep'
import { Common } from '../types.bicep'

param common Common

resource vault 'Microsoft.KeyVault/vaults@2024-11-01' = {
  name: common.name.keyVault
  location: common.location
  tags: common.tags
  properties: {
    tenantId: tenant().tenantId
    sku: { family: 'A', name: 'standard' }
    enableRbacAuthorization: true
    enableSoftDelete: true
    enablePurgeProtection: true
    softDeleteRetentionInDays: 90
    publicNetworkAccess: common.publicNetwork ? 'Enabled' : 'Disabled'
    networkAcls: {
      bypass: 'None'
      defaultAction: common.publicNetwork ? 'Allow' : 'Deny'
    }
  }
}

resource logs 'Microsoft.Insights/diagnosticSettings@2021-05-01-preview' = {
  name: 'to-workspace'
  scope: vault
  properties: logsAndMetrics(common.workspaceId)
}
