metadata description = 'What resources report to the workspace.'

@export()
@description('The properties of a diagnostic setting for everything that a resource can tell.')
func logsAndMetrics(workspaceId string) resourceInput<'Microsoft.Insights/diagnosticSettings@2021-05-01-preview'>.properties => {
  workspaceId: workspaceId
  logs: [{ categoryGroup: 'allLogs', enabled: true }]
  metrics: [{ category: 'AllMetrics', enabled: true }]
}

@export()
@description('The same for a resource without metrics of its own.')
func onlyLogs(workspaceId string) resourceInput<'Microsoft.Insights/diagnosticSettings@2021-05-01-preview'>.properties => {
  workspaceId: workspaceId
  logs: [{ categoryGroup: 'allLogs', enabled: true }]
}

@export()
@description('For the function app: its log goes to Application Insights, and would be stored and paid twice.')
func onlyMetrics(workspaceId string) resourceInput<'Microsoft.Insights/diagnosticSettings@2021-05-01-preview'>.properties => {
  workspaceId: workspaceId
  metrics: [{ category: 'AllMetrics', enabled: true }]
}
