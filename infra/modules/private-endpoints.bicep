metadata description = 'A private endpoint for each store, and the DNS zones in which its usual name leads there.'

import { Common } from '../types.bicep'

param common Common
param durableBackend 'storage' | 'scheduler'

var hostStorage = resourceId('Microsoft.Storage/storageAccounts', common.name.hostStorage)
var documents = resourceId('Microsoft.Storage/storageAccounts', common.name.documentsStorage)
var serviceBus = resourceId('Microsoft.ServiceBus/namespaces', common.name.serviceBus)
var sqlServer = resourceId('Microsoft.Sql/servers', common.name.sqlServer)
var keyVault = resourceId('Microsoft.KeyVault/vaults', common.name.keyVault)
var scheduler = resourceId('Microsoft.DurableTask/schedulers', common.name.scheduler)

// Each store, and the part of it that is reached, as Azure calls it.
var stores = [
  { name: common.name.hostStorage, id: hostStorage, part: 'blob' }
  { name: common.name.hostStorage, id: hostStorage, part: 'queue' }
  { name: common.name.hostStorage, id: hostStorage, part: 'table' }
  { name: common.name.documentsStorage, id: documents, part: 'blob' }
  { name: common.name.serviceBus, id: serviceBus, part: 'namespace' }
  { name: common.name.sqlServer, id: sqlServer, part: 'sqlServer' }
  { name: common.name.keyVault, id: keyVault, part: 'vault' }
]
var backend = [{ name: common.name.scheduler, id: scheduler, part: 'scheduler' }]
var targets = durableBackend == 'scheduler' ? concat(stores, backend) : stores
var parts = union(map(targets, target => target.part), [])

var zoneOf = {
  blob: 'privatelink.blob.${environment().suffixes.storage}'
  queue: 'privatelink.queue.${environment().suffixes.storage}'
  table: 'privatelink.table.${environment().suffixes.storage}'
  namespace: 'privatelink.servicebus.windows.net'
  sqlServer: 'privatelink${environment().suffixes.sqlServerHostname}'
  vault: 'privatelink.vaultcore.azure.net'
  scheduler: 'privatelink.durabletask.io'
}

resource network 'Microsoft.Network/virtualNetworks@2025-05-01' existing = {
  name: common.name.virtualNetwork

  resource endpoints 'subnets' existing = {
    name: 'endpoints'
  }
}

resource zone 'Microsoft.Network/privateDnsZones@2024-06-01' = [
  for part in parts: {
    name: zoneOf[part]
    location: 'global'
    tags: common.tags
  }
]

resource link 'Microsoft.Network/privateDnsZones/virtualNetworkLinks@2024-06-01' = [
  for (part, i) in parts: {
    parent: zone[i]
    name: 'extractor'
    location: 'global'
    tags: common.tags
    properties: { virtualNetwork: { id: network.id }, registrationEnabled: false }
  }
]

module endpoint 'private-endpoint.bicep' = [
  for target in targets: {
    params: {
      location: common.location
      tags: common.tags
      name: 'pep-${target.name}-${target.part}'
      subnetId: network::endpoints.id
      resourceId: target.id
      part: target.part
      zoneId: zone[indexOf(parts, target.part)].id
    }
  }
]
