metadata description = 'The workbook: how the service does, against what was promised.'

@description('Region of the workbook.')
param location string

@description('Tags of the workbook.')
param tags object

@description('Resource id of the Log Analytics workspace that the queries ask.')
param workspaceId string

@description('Resource id of Application Insights, where the workbook is found.')
param applicationInsightsId string

@description('Resource id of the Service Bus namespace, whose metrics are shown.')
param serviceBusNamespaceId string

var content = replace(
  replace(loadTextContent('../monitoring/workbook.json'), '__WORKSPACE__', workspaceId),
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
