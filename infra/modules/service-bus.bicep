metadata description = 'The Service Bus namespace, made here or one that is there, with the topics and subscriptions of the service.'

import { logsAndMetrics } from '../diagnostics.bicep'
import { Common } from '../types.bicep'
import { Delivery, topics } from '../topology.bicep'

param common Common

@description('False when the namespace is there: then only the topics are made, and its owner looks after the rest.')
param create bool
param sku 'Standard' | 'Premium'
param delivery Delivery

var checkedSku = sku == 'Standard' && !common.publicNetwork
  ? fail('privateNetwork needs serviceBusSku Premium: a Standard namespace has no private endpoints')
  : sku

resource created 'Microsoft.ServiceBus/namespaces@2024-01-01' = if (create) {
  name: common.name.serviceBus
  location: common.location
  tags: common.tags
  sku: { name: checkedSku, tier: checkedSku, capacity: sku == 'Premium' ? 1 : null }
  properties: {
    disableLocalAuth: true
    minimumTlsVersion: '1.2'
    publicNetworkAccess: common.publicNetwork ? 'Enabled' : 'Disabled'
  }
}

resource logs 'Microsoft.Insights/diagnosticSettings@2021-05-01-preview' = if (create) {
  name: 'to-workspace'
  scope: created
  properties: logsAndMetrics(common.workspaceId)
}

module topic 'topic.bicep' = [
  for topic in topics: {
    params: { namespaceName: common.name.serviceBus, topic: topic, delivery: delivery }
    dependsOn: [created]
  }
]
