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

var storageZone = environment().suffixes.storage
var sqlZone = environment().suffixes.sqlServerHostname

// What is reached, the part of it as Azure calls it, and the zone of its names.
var stores = [
  { name: common.name.hostStorage, id: hostStorage, part: 'blob', zone: 'privatelink.blob.${storageZone}' }
  { name: common.name.hostStorage, id: hostStorage, part: 'queue', zone: 'privatelink.queue.${storageZone}' }
  { name: common.name.hostStorage, id: hostStorage, part: 'table', zone: 'privatelink.table.${storageZone}' }
  { name: common.name.documentsStorage, id: documents, part: 'blob', zone: 'privatelink.blob.${storageZone}' }
  { name: common.name.serviceBus, id: serviceBus, part: 'namespace', zone: 'privatelink.servicebus.windows.net' }
  { name: common.name.sqlServer, id: sqlServer, part: 'sqlServer', zone: 'privatelink${sqlZone}' }
  { name: common.name.keyVault, id: keyVault, part: 'vault', zone: 'privatelink.vaultcore.azure.net' }
]
var backend = [
  { name: common.name.scheduler, id: scheduler, part: 'scheduler', zone: 'privatelink.durabletask.io' }
]
var targets = durableBackend == 'scheduler' ? concat(stores, backend) : stores
var zones = union(map(targets, target => target.zone), [])

resource network 'Microsoft.Network/virtualNetworks@2025-05-01' existing = {
  name: common.name.virtualNetwork

  resource endpoints 'subnets' existing = {
    name: 'endpoints'
  }
}

resource zone 'Microsoft.Network/privateDnsZones@2024-06-01' = [
  for name in zones: {
    name: name
    location: 'global'
    tags: common.tags
  }
]

resource link 'Microsoft.Network/privateDnsZones/virtualNetworkLinks@2024-06-01' = [
  for (name, i) in zones: {
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
      zoneId: zone[indexOf(zones, target.zone)].id
    }
  }
]
