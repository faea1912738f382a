metadata description = 'The Durable Task Scheduler, for an app that does not keep its orchestrations in its storage account.'

import { logsAndMetrics } from '../diagnostics.bicep'
import { Common } from '../types.bicep'

param common Common

resource scheduler 'Microsoft.DurableTask/schedulers@2026-02-01' = {
  name: common.name.scheduler
  location: common.location
  tags: common.tags
  properties: {
    sku: { name: 'Consumption' }
    // An empty list refuses everyone who does not come through a private endpoint.
    ipAllowlist: common.publicNetwork ? ['0.0.0.0/0'] : []
    publicNetworkAccess: common.publicNetwork ? 'Enabled' : 'Disabled'
  }

  resource taskHub 'taskHubs' = {
    name: common.name.taskHub
  }
}

resource logs 'Microsoft.Insights/diagnosticSettings@2021-05-01-preview' = {
  name: 'to-workspace'
  scope: scheduler
  properties: logsAndMetrics(common.workspaceId)
}
