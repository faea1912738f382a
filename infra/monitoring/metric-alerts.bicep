metadata description = 'What the platform measures and when it alerts. Thresholds are changed here.'

@export()
type MetricTarget = 'serviceBus' | 'site' | 'sql' | 'hostStorage' | 'documentsStorage' | 'keyVault'

@export()
type MetricAlert = {
  name: string
  @description('1: look at once. 2: look today. 3: look when there is time.')
  severity: 1 | 2 | 3
  @description('What it means, in one sentence.')
  means: string
  @description('The section of docs/operations/runbook.md that says what to do.')
  runbook: string
  target: MetricTarget
  metric: string
  aggregation: 'Average' | 'Count' | 'Maximum' | 'Minimum' | 'Total'
  operator: 'GreaterThan' | 'LessThan'
  @description('Left out where Azure learns what is usual, which takes it some days.')
  threshold: int?
  @description('ISO 8601; it is looked at every five minutes.')
  window: string
  @description('One alert for each value; * for all of them.')
  dimension: { name: string, values: string[] }?
}

var eachTopic = { name: 'EntityName', values: ['*'] }

@export()
var metricAlerts MetricAlert[] = [
  {
    name: 'dead-letters'
    severity: 1
    means: 'Messages of a topic lie in a dead-letter queue: what they ask for has not been done.'
    runbook: 'dead-letters'
    target: 'serviceBus'
    metric: 'DeadletteredMessages'
    aggregation: 'Maximum'
    operator: 'GreaterThan'
    threshold: 0
    window: 'PT15M'
    dimension: eachTopic
  }
  {
    name: 'messages-waiting'
    severity: 2
    means: 'For half an hour a topic has never had fewer than 500 messages waiting.'
    runbook: 'messages-pile-up'
    target: 'serviceBus'
    metric: 'ActiveMessages'
    aggregation: 'Minimum'
    operator: 'GreaterThan'
    threshold: 500
    window: 'PT30M'
    dimension: eachTopic
  }
  {
    name: 'messages-growing'
    severity: 3
    means: 'More messages of a topic wait than is usual for this hour of the week.'
    runbook: 'messages-pile-up'
    target: 'serviceBus'
    metric: 'ActiveMessages'
    aggregation: 'Average'
    operator: 'GreaterThan'
    window: 'PT15M'
    dimension: eachTopic
  }
  {
    name: 'service-bus-server-errors'
    severity: 2
    means: 'Service Bus answers with errors of its own.'
    runbook: 'service-bus'
    target: 'serviceBus'
    metric: 'ServerErrors'
    aggregation: 'Total'
    operator: 'GreaterThan'
    threshold: 10
    window: 'PT15M'
  }
  {
    name: 'service-bus-throttling'
    severity: 2
    means: 'Service Bus makes clients wait: the namespace is too small for what comes.'
    runbook: 'service-bus'
    target: 'serviceBus'
    metric: 'ThrottledRequests'
    aggregation: 'Total'
    operator: 'GreaterThan'
    threshold: 50
    window: 'PT15M'
  }
  {
    name: 'site-5xx'
    severity: 2
    means: 'The app answers with 5xx, also where no function was reached.'
    runbook: 'the-service-does-not-answer'
    target: 'site'
    metric: 'Http5xx'
    aggregation: 'Total'
    operator: 'GreaterThan'
    threshold: 20
    window: 'PT15M'
  }
  {
    name: 'sql-cpu'
    severity: 2
    means: 'The database has been busy above 80 % for a quarter of an hour.'
    runbook: 'the-database'
    target: 'sql'
    metric: 'cpu_percent'
    aggregation: 'Average'
    operator: 'GreaterThan'
    threshold: 80
    window: 'PT15M'
  }
  {
    name: 'sql-storage'
    severity: 2
    means: 'The database has filled more than 80 % of its storage.'
    runbook: 'the-database'
    target: 'sql'
    metric: 'storage_percent'
    aggregation: 'Maximum'
    operator: 'GreaterThan'
    threshold: 80
    window: 'PT1H'
  }
  {
    name: 'sql-connections'
    severity: 1
    means: 'The database refuses connections; a serverless one that wakes up refuses a few.'
    runbook: 'the-database'
    target: 'sql'
    metric: 'connection_failed'
    aggregation: 'Total'
    operator: 'GreaterThan'
    threshold: 20
    window: 'PT15M'
  }
  {
    name: 'sql-deadlocks'
    severity: 3
    means: 'Transactions wait for each other; each that is ended for it is run again.'
    runbook: 'the-database'
    target: 'sql'
    metric: 'deadlock'
    aggregation: 'Total'
    operator: 'GreaterThan'
    threshold: 10
    window: 'PT1H'
  }
  {
    name: 'host-storage'
    severity: 1
    means: 'The storage of the functions host fails: functions do not start, orchestrations stand still.'
    runbook: 'storage'
    target: 'hostStorage'
    metric: 'Availability'
    aggregation: 'Average'
    operator: 'LessThan'
    threshold: 99
    window: 'PT15M'
  }
  {
    name: 'documents-storage'
    severity: 2
    means: 'The storage of the documents fails: links cannot be signed, extractors cannot read.'
    runbook: 'storage'
    target: 'documentsStorage'
    metric: 'Availability'
    aggregation: 'Average'
    operator: 'LessThan'
    threshold: 99
    window: 'PT15M'
  }
  {
    name: 'key-vault'
    severity: 2
    means: 'Key Vault fails: an app that starts cannot read its keys.'
    runbook: 'key-vault'
    target: 'keyVault'
    metric: 'Availability'
    aggregation: 'Average'
    operator: 'LessThan'
    threshold: 99
    window: 'PT15M'
  }
  {
    name: 'key-vault-refusals'
    severity: 2
    means: 'Key Vault refuses requests: somebody lacks a role, or asks too often.'
    runbook: 'key-vault'
    target: 'keyVault'
    metric: 'ServiceApiResult'
    aggregation: 'Count'
    operator: 'GreaterThan'
    threshold: 5
    window: 'PT15M'
    dimension: { name: 'StatusCode', values: ['403', '429'] }
  }
]
