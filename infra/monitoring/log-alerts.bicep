metadata description = 'What the log says and when it alerts. Thresholds are changed here, queries in queries/.'

@export()
type LogAlert = {
  name: string
  @description('1: look at once. 2: look today. 3: look when there is time.')
  severity: 1 | 2 | 3
  @description('What it means, in one sentence.')
  means: string
  @description('The section of docs/operations/runbook.md that says what to do.')
  runbook: string
  query: string
  @description('Column of the result that is compared.')
  measure: string
  aggregation: 'Maximum' | 'Minimum' | 'Total'
  operator: 'GreaterThan' | 'LessThan'
  threshold: int
  @description('ISO 8601: how much of the log is read.')
  window: string
  @description('ISO 8601: how often. Rarer is cheaper.')
  every: string
  @description('Column with one alert for each value.')
  dimension: string?
}

@export()
var logAlerts LogAlert[] = [
  {
    name: 'reconciliation-silent'
    severity: 1
    means: 'The app has shown no sign of life for half an hour: its timer writes a line every five minutes.'
    runbook: 'the-service-does-not-answer'
    query: loadTextContent('queries/reconciliation-passes.kql')
    measure: 'passes'
    aggregation: 'Total'
    operator: 'LessThan'
    threshold: 1
    window: 'PT30M'
    every: 'PT5M'
  }
  {
    name: 'not-ready'
    severity: 1
    means: 'The app says of itself that a part is out of reach.'
    runbook: 'the-service-is-not-ready'
    query: loadTextContent('queries/health-not-ready.kql')
    measure: 'notReady'
    aggregation: 'Total'
    operator: 'GreaterThan'
    threshold: 5
    window: 'PT15M'
    every: 'PT5M'
  }
  {
    name: 'parts-out-of-reach'
    severity: 2
    means: 'Requests are turned away and messages held, because a part is out of reach.'
    runbook: 'the-service-is-not-ready'
    query: loadTextContent('queries/parts-out-of-reach.kql')
    measure: 'times'
    aggregation: 'Total'
    operator: 'GreaterThan'
    threshold: 10
    window: 'PT15M'
    every: 'PT5M'
    dimension: 'part'
  }
  {
    name: 'function-failures'
    severity: 2
    means: 'Calls of a function end in exceptions; one message that cannot be handled makes ten.'
    runbook: 'functions-fail'
    query: loadTextContent('queries/function-failures.kql')
    measure: 'failures'
    aggregation: 'Total'
    operator: 'GreaterThan'
    threshold: 20
    window: 'PT15M'
    every: 'PT5M'
    dimension: 'functionName'
  }
  {
    name: 'http-errors'
    severity: 2
    means: 'An endpoint answers with 5xx.'
    runbook: 'functions-fail'
    query: loadTextContent('queries/http-errors.kql')
    measure: 'errors'
    aggregation: 'Total'
    operator: 'GreaterThan'
    threshold: 5
    window: 'PT15M'
    every: 'PT5M'
    dimension: 'functionName'
  }
  {
    name: 'restart-errors'
    severity: 1
    means: 'Operators who restart extractions are answered with 5xx.'
    runbook: 'restarts-fail-or-are-slow'
    query: loadTextContent('queries/restart-errors.kql')
    measure: 'errors'
    aggregation: 'Total'
    operator: 'GreaterThan'
    threshold: 1
    window: 'PT15M'
    every: 'PT5M'
  }
  {
    name: 'restart-latency'
    severity: 3
    means: 'Restarts take longer than the half second that was promised, on average.'
    runbook: 'restarts-fail-or-are-slow'
    query: loadTextContent('queries/restart-latency.kql')
    measure: 'averageMs'
    aggregation: 'Maximum'
    operator: 'GreaterThan'
    threshold: 500
    window: 'PT1H'
    every: 'PT15M'
  }
  {
    name: 'messages-not-sent'
    severity: 2
    means: 'Messages do not leave; they wait in the outbox.'
    runbook: 'service-bus'
    query: loadTextContent('queries/messages-not-sent.kql')
    measure: 'messages'
    aggregation: 'Total'
    operator: 'GreaterThan'
    threshold: 5
    window: 'PT15M'
    every: 'PT5M'
    dimension: 'topic'
  }
  {
    name: 'jobs-stuck'
    severity: 2
    means: 'Jobs are past their time, and neither their orchestrations nor reconciliation end them.'
    runbook: 'jobs-do-not-move'
    query: loadTextContent('queries/jobs-unmoved.kql')
    measure: 'stuck'
    aggregation: 'Minimum'
    operator: 'GreaterThan'
    threshold: 0
    window: 'PT30M'
    every: 'PT15M'
  }
  {
    name: 'jobs-old'
    severity: 3
    means: 'The oldest active job is older than four hours: its extractor is full, paused or silent.'
    runbook: 'jobs-do-not-move'
    query: loadTextContent('queries/jobs-unmoved.kql')
    measure: 'oldestMinutes'
    aggregation: 'Minimum'
    operator: 'GreaterThan'
    threshold: 240
    window: 'PT30M'
    every: 'PT15M'
  }
  {
    name: 'jobs-failing'
    severity: 2
    means: 'More than a fifth of the jobs of an extractor fail; ten must have ended.'
    runbook: 'jobs-fail'
    query: loadTextContent('queries/jobs-failing.kql')
    measure: 'failedPercent'
    aggregation: 'Maximum'
    operator: 'GreaterThan'
    threshold: 20
    window: 'PT1H'
    every: 'PT15M'
    dimension: 'extractorId'
  }
  {
    name: 'calls-failing'
    severity: 3
    means: 'More than half of the calls of an extractor fail; ten must have been made.'
    runbook: 'an-extractor-fails'
    query: loadTextContent('queries/calls-failing.kql')
    measure: 'failedPercent'
    aggregation: 'Maximum'
    operator: 'GreaterThan'
    threshold: 50
    window: 'PT1H'
    every: 'PT15M'
    dimension: 'extractorId'
  }
  {
    name: 'reconciliation-busy'
    severity: 3
    means: 'Reconciliation mends much: something ends before its work is done, again and again.'
    runbook: 'jobs-do-not-move'
    query: loadTextContent('queries/reconciliation-mended.kql')
    measure: 'mended'
    aggregation: 'Total'
    operator: 'GreaterThan'
    threshold: 50
    window: 'PT1H'
    every: 'PT15M'
  }
]
