metadata description = 'One action group, and the alerts that reach it.'

@description('Region of the resources that have one.')
param location string

@description('Tags of every resource.')
param tags object

@description('Environment, part of the names that people read in an alert.')
param environmentName string

@description('Who is told by e-mail.')
param emails string[]

@description('Addresses that are called with the common alert schema.')
param webhooks string[]

@description('Resource id of the function app.')
param functionAppId string

@description('Address of the function app, with scheme.')
param functionAppUrl string

@description('Resource id of the Service Bus namespace.')
param serviceBusNamespaceId string

@description('Resource id of the SQL database; empty when it is another team\'s, which then watches it.')
param sqlDatabaseId string

@description('Resource id of the storage account of the functions host.')
param hostStorageId string

@description('Resource id of the storage account of the documents.')
param documentsStorageId string

@description('Resource id of the Key Vault.')
param keyVaultId string

@description('Resource id of Application Insights.')
param applicationInsightsId string

@description('Resource id of the Log Analytics workspace.')
param workspaceId string

resource actionGroup 'Microsoft.Insights/actionGroups@2023-01-01' = {
  name: 'ag-extractor-${environmentName}'
  location: 'global'
  tags: tags
  properties: {
    groupShortName: take('ext-${environmentName}', 12)
    enabled: true
    emailReceivers: [
      for (email, i) in emails: { name: 'email-${i}', emailAddress: email, useCommonAlertSchema: true }
    ]
    webhookReceivers: [
      for (webhook, i) in webhooks: { name: 'webhook-${i}', serviceUri: webhook, useCommonAlertSchema: true }
    ]
  }
}

@description('Resource id of the action group.')
output actionGroupId string = actionGroup.id
