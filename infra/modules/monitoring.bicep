metadata description = 'The Log Analytics workspace that everything reports to, and Application Insights on it.'

import { logsAndMetrics } from '../diagnostics.bicep'
import { Common, Logs } from '../types.bicep'

param common Common
param logs Logs

resource workspace 'Microsoft.OperationalInsights/workspaces@2025-07-01' = {
  name: common.name.logAnalytics
  location: common.location
  tags: common.tags
  properties: {
    sku: { name: 'PerGB2018' }
    retentionInDays: logs.retentionDays
    workspaceCapping: { dailyQuotaGb: logs.dailyQuotaGb }
    features: {
      disableLocalAuth: true
      enableLogAccessUsingOnlyResourcePermissions: true
    }
  }
}

resource applicationInsights 'Microsoft.Insights/components@2020-02-02' = {
  name: common.name.applicationInsights
  location: common.location
  tags: common.tags
  kind: 'web'
  properties: {
    Application_Type: 'web'
    WorkspaceResourceId: workspace.id
    DisableLocalAuth: true
  }
}

resource workspaceAudit 'Microsoft.Insights/diagnosticSettings@2021-05-01-preview' = {
  name: 'to-workspace'
  scope: workspace
  properties: logsAndMetrics(workspace.id)
}
