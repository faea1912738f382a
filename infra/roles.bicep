metadata description = 'The built-in roles that are given, by their ids, and how one is given.'

@export()
var roles = {
  durableTaskDataContributor: '0ad04412-c4d5-4796-b79c-f76d14c8d402'
  keyVaultSecretsOfficer: 'b86a8fe4-44ce-4948-aee5-eccb2c155cd7'
  keyVaultSecretsUser: '4633458b-17de-408a-b874-0445c86b69e6'
  monitoringMetricsPublisher: '3913510d-42f4-4e42-8a64-420c390055eb'
  serviceBusDataReceiver: '4f6d3b9b-027b-4f4c-9142-0e5a2a2247e0'
  serviceBusDataSender: '69a216fc-b8fb-44d8-bc22-1f3c2cd27a39'
  storageBlobDataContributor: 'ba92f5b4-2d11-453d-a403-e96b0029c9fe'
  storageBlobDataOwner: 'b7e6dc6d-f1e8-4753-8033-0f276bb0955b'
  storageBlobDataReader: '2a2b9908-6ea1-4ae2-8e65-a410df84e7d1'
  storageBlobDelegator: 'db58b8e5-c6ad-4a2a-8342-4190687cbf4a'
  storageQueueDataContributor: '974c5e8b-45b9-4653-ba55-5f855dd0fb88'
  storageTableDataContributor: '0a9a7e1f-b9d0-4cc4-a60d-0319b160aaa3'
}

@export()
@description('The properties of a role assignment.')
func grant(principalId string, principalType string, role string) resourceInput<'Microsoft.Authorization/roleAssignments@2022-04-01'>.properties => {
  principalId: principalId
  principalType: principalType
  roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', role)
}
