metadata description = 'A private endpoint of one resource, with its name in a DNS zone.'

import { Tags } from '../types.bicep'

param location string
param tags Tags
param name string
param subnetId string

@description('The resource that it leads to.')
param resourceId string

@description('The part of the resource, as Azure calls it: blob, namespace, sqlServer, …')
param part string
param zoneId string

resource endpoint 'Microsoft.Network/privateEndpoints@2025-05-01' = {
  name: name
  location: location
  tags: tags
  properties: {
    subnet: { id: subnetId }
    privateLinkServiceConnections: [
      { name: part, properties: { privateLinkServiceId: resourceId, groupIds: [part] } }
    ]
  }

  resource names 'privateDnsZoneGroups' = {
    name: 'default'
    properties: {
      privateDnsZoneConfigs: [{ name: part, properties: { privateDnsZoneId: zoneId } }]
    }
  }
}
