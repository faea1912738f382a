metadata description = 'One action group, and the alerts that reach it. What alerts when stands in ../monitoring/.'

import { logAlerts } from '../monitoring/log-alerts.bicep'
import { metricAlerts } from '../monitoring/metric-alerts.bicep'
import { Tags } from '../types.bicep'

param location string
param tags Tags
param environmentName string

@description('Who is told by e-mail.')
param emails string[]

@description('Addresses that are called with the common alert schema.')
param webhooks string[]

param functionAppId string

@description('Address of the function app, with scheme.')
param functionAppUrl string

param serviceBusNamespaceId string

@description('Empty when the database is in another place, whose owner then watches it.')
param sqlDatabaseId string

param hostStorageId string
param documentsStorageId string
param keyVaultId string
param applicationInsightsId string
param workspaceId string

@description('False for an app that the internet does not reach: its own lines in the log are watched all the same.')
param probedFromOutside bool = true

var targets = {
  serviceBus: serviceBusNamespaceId
  site: functionAppId
  sql: sqlDatabaseId
  hostStorage: hostStorageId
  documentsStorage: documentsStorageId
  keyVault: keyVaultId
}
var probePlaces = ['emea-nl-ams-azr', 'emea-gb-db3-azr', 'emea-fr-pra-edge']

@description('The name by which people know an alert.')
func alertName(environmentName string, name string) string => 'extractor-${environmentName}-${name}'

@description('What it means, and where it says what to do.')
func explain(means string, section string) string => '${means} Runbook: docs/operations/runbook.md#${section}'

resource people 'Microsoft.Insights/actionGroups@2023-01-01' = {
  name: 'ag-extractor-${environmentName}'
  location: 'global'
  tags: tags
  properties: {
    groupShortName: 'extr-${environmentName}'
    enabled: true
    emailReceivers: [for (email, i) in emails: { name: 'email-${i}', emailAddress: email, useCommonAlertSchema: true }]
    webhookReceivers: [
      for (webhook, i) in webhooks: { name: 'webhook-${i}', serviceUri: webhook, useCommonAlertSchema: true }
    ]
  }
}

resource onMetrics 'Microsoft.Insights/metricAlerts@2018-03-01' = [
  for alert in metricAlerts: if (!empty(targets[alert.target])) {
    name: alertName(environmentName, alert.name)
    location: 'global'
    tags: tags
    properties: {
      description: explain(alert.means, alert.runbook)
      severity: alert.severity
      enabled: true
      scopes: [targets[alert.target]]
      evaluationFrequency: 'PT5M'
      windowSize: alert.window
      criteria: {
        'odata.type': 'Microsoft.Azure.Monitor.MultipleResourceMultipleMetricCriteria'
        allOf: [
          {
            name: alert.name
            metricName: alert.metric
            timeAggregation: alert.aggregation
            operator: alert.operator
            dimensions: alert.?dimension == null ? [] : [{ ...alert.dimension!, operator: 'Include' }]
            ...(alert.?threshold == null
              ? {
                  criterionType: 'DynamicThresholdCriterion'
                  alertSensitivity: 'Low'
                  failingPeriods: { numberOfEvaluationPeriods: 4, minFailingPeriodsToAlert: 4 }
                }
              : { criterionType: 'StaticThresholdCriterion', threshold: alert.threshold! })
          }
        ]
      }
      autoMitigate: true
      actions: [{ actionGroupId: people.id }]
    }
  }
]

resource onLogs 'Microsoft.Insights/scheduledQueryRules@2023-12-01' = [
  for alert in logAlerts: {
    name: alertName(environmentName, alert.name)
    location: location
    tags: tags
    kind: 'LogAlert'
    properties: {
      displayName: alertName(environmentName, alert.name)
      description: explain(alert.means, alert.runbook)
      severity: alert.severity
      enabled: true
      scopes: [workspaceId]
      evaluationFrequency: alert.every
      windowSize: alert.window
      criteria: {
        allOf: [
          {
            query: alert.query
            metricMeasureColumn: alert.measure
            timeAggregation: alert.aggregation
            operator: alert.operator
            threshold: alert.threshold
            dimensions: alert.?dimension == null ? [] : [{ name: alert.dimension!, operator: 'Include', values: ['*'] }]
            failingPeriods: { numberOfEvaluationPeriods: 1, minFailingPeriodsToAlert: 1 }
          }
        ]
      }
      autoMitigate: true
      // A workspace that is minutes old does not know its tables yet; the tests check the queries.
      skipQueryValidation: true
      actions: { actionGroups: [people.id] }
    }
  }
]

resource probe 'Microsoft.Insights/webtests@2022-06-15' = if (probedFromOutside) {
  name: alertName(environmentName, 'probe')
  location: location
  tags: { ...tags, 'hidden-link:${applicationInsightsId}': 'Resource' }
  kind: 'standard'
  properties: {
    SyntheticMonitorId: alertName(environmentName, 'probe')
    Name: 'GET /health/ready'
    Enabled: true
    Kind: 'standard'
    Frequency: 300
    Timeout: 30
    RetryEnabled: true
    Locations: [for place in probePlaces: { Id: place }]
    Request: { RequestUrl: '${functionAppUrl}/health/ready', HttpVerb: 'GET', ParseDependentRequests: false }
    ValidationRules: { ExpectedHttpStatusCode: 200, SSLCheck: true, SSLCertRemainingLifetimeCheck: 14 }
  }
}

resource onProbe 'Microsoft.Insights/metricAlerts@2018-03-01' = if (probedFromOutside) {
  name: alertName(environmentName, 'probe')
  location: 'global'
  tags: tags
  properties: {
    description: explain('GET /health/ready does not answer 200 from two places at least.', 'the-service-is-not-ready')
    severity: 1
    enabled: true
    scopes: [probe.id, applicationInsightsId]
    evaluationFrequency: 'PT5M'
    windowSize: 'PT15M'
    criteria: {
      'odata.type': 'Microsoft.Azure.Monitor.WebtestLocationAvailabilityCriteria'
      webTestId: probe.id
      componentId: applicationInsightsId
      failedLocationCount: 2
    }
    autoMitigate: true
    actions: [{ actionGroupId: people.id }]
  }
}

output actionGroupId string = people.id
