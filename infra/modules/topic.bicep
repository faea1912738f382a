metadata description = 'A topic with its subscriptions, each with one rule.'

import { Delivery, Topic } from '../topology.bicep'

param namespaceName string
param topic Topic
param delivery Delivery

var subscriptions = concat([topic.subscription], empty(topic.?statusService) ? [] : [topic.statusService!])
var timeToLive = 'P${delivery.timeToLiveDays}D'

resource namespace 'Microsoft.ServiceBus/namespaces@2024-01-01' existing = {
  name: namespaceName
}

resource topicResource 'Microsoft.ServiceBus/namespaces/topics@2024-01-01' = {
  parent: namespace
  name: topic.name
  properties: {
    defaultMessageTimeToLive: timeToLive
    requiresDuplicateDetection: true
    duplicateDetectionHistoryTimeWindow: 'PT${delivery.duplicateDetectionMinutes}M'
    supportOrdering: true
  }
}

resource subscription 'Microsoft.ServiceBus/namespaces/topics/subscriptions@2024-01-01' = [
  for subscription in subscriptions: {
    parent: topicResource
    name: subscription.name
    properties: {
      defaultMessageTimeToLive: timeToLive
      lockDuration: 'PT${delivery.lockMinutes}M'
      maxDeliveryCount: delivery.maxDeliveryCount
      deadLetteringOnMessageExpiration: true
      deadLetteringOnFilterEvaluationExceptions: true
    }
  }
]

// Under this name the rule takes the place of the one that lets everything through.
resource rule 'Microsoft.ServiceBus/namespaces/topics/subscriptions/rules@2024-01-01' = [
  for (each, i) in subscriptions: {
    parent: subscription[i]
    name: '$Default'
    properties: {
      filterType: 'SqlFilter'
      sqlFilter: { sqlExpression: each.?filter ?? '1=1' }
    }
  }
]
