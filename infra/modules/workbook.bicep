metadata description = 'The workbook: how the service does, against what was promised. Its shape is ../monitoring/workbook.json.'

import { Tags } from '../types.bicep'

param location string
param tags Tags

@description('The Log Analytics workspace that the queries ask.')
param workspaceId string

@description('Where the workbook is found.')
param applicationInsightsId string

@description('The namespace whose metrics are shown.')
param serviceBusNamespaceId string

// An item of the workbook that asks the log has the name of its query.
var queries = {
  availability: loadTextContent('../monitoring/queries/availability.kql')
  'dead-letters-handled': loadTextContent('../monitoring/queries/dead-letters-handled.kql')
  executions: loadTextContent('../monitoring/queries/executions.kql')
  extractors: loadTextContent('../monitoring/queries/extractors.kql')
  'function-failures': loadTextContent('../monitoring/queries/function-failures.kql')
  'http-errors': loadTextContent('../monitoring/queries/http-errors.kql')
  ingestion: loadTextContent('../monitoring/queries/ingestion.kql')
  'job-durations': loadTextContent('../monitoring/queries/job-durations.kql')
  'jobs-by-state': loadTextContent('../monitoring/queries/jobs-by-state.kql')
  'jobs-unmoved': loadTextContent('../monitoring/queries/jobs-unmoved.kql')
  'messages-handled': loadTextContent('../monitoring/queries/messages-handled.kql')
  'messages-refused': loadTextContent('../monitoring/queries/messages-refused.kql')
  'messages-sent': loadTextContent('../monitoring/queries/messages-sent.kql')
  'parts-out-of-reach': loadTextContent('../monitoring/queries/parts-out-of-reach.kql')
  'reconciliation-mended': loadTextContent('../monitoring/queries/reconciliation-mended.kql')
  restart: loadTextContent('../monitoring/queries/restart.kql')
  retries: loadTextContent('../monitoring/queries/retries.kql')
  'retry-results': loadTextContent('../monitoring/queries/retry-results.kql')
  'success-metrics': loadTextContent('../monitoring/queries/success-metrics.kql')
}

var sheet = loadJsonContent('../monitoring/workbook.json')
var asked = {
  version: 'KqlItem/1.0'
  size: 0
  timeContextFromParameter: 'TimeRange'
  queryType: 0
  resourceType: 'microsoft.operationalinsights/workspaces'
  crossComponentResources: ['__WORKSPACE__']
}
var items = map(
  sheet.items,
  item => item.type == 3 ? { ...item, content: { ...asked, ...item.content, query: queries[item.name] } } : item
)
var content = replace(
  replace(string({ ...sheet, items: items }), '__WORKSPACE__', workspaceId),
  '__SERVICE_BUS__',
  serviceBusNamespaceId
)

resource workbook 'Microsoft.Insights/workbooks@2023-06-01' = {
  name: guid(resourceGroup().id, 'extractor workbook')
  location: location
  tags: tags
  kind: 'shared'
  properties: {
    displayName: 'Extractor Service'
    category: 'workbook'
    sourceId: applicationInsightsId
    serializedData: content
  }
}
