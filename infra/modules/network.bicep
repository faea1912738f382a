metadata description = 'The virtual network: subnets for the app, for the private endpoints and for whoever deploys, each with its rules in both directions.'

import { logsAndMetrics, onlyLogs } from '../diagnostics.bicep'
import { Common, Network } from '../types.bicep'

param common Common
param network Network

var appRange = cidrSubnet(network.addressPrefix, 24, 0)
var endpointRange = cidrSubnet(network.addressPrefix, 24, 1)
var runnerRange = cidrSubnet(network.addressPrefix, 24, 2)
var storePorts = ['443', '1433', '5671']

var denyTheRest = map(['Inbound', 'Outbound'], direction => {
  name: 'deny-${toLower(direction)}'
  properties: {
    priority: 4096
    direction: direction
    access: 'Deny'
    protocol: '*'
    sourceAddressPrefix: '*'
    sourcePortRange: '*'
    destinationAddressPrefix: '*'
    destinationPortRange: '*'
  }
})

// Extractors, the registration service, Entra ID and Azure Monitor are on the internet.
var callOthers = {
  name: 'call-others'
  properties: {
    priority: 200
    direction: 'Outbound'
    access: 'Allow'
    protocol: 'Tcp'
    sourceAddressPrefix: '*'
    sourcePortRange: '*'
    destinationAddressPrefix: 'Internet'
    destinationPortRange: '443'
  }
}

var useStores = {
  name: 'use-stores'
  properties: {
    priority: 100
    direction: 'Outbound'
    access: 'Allow'
    protocol: 'Tcp'
    sourceAddressPrefix: '*'
    sourcePortRange: '*'
    destinationAddressPrefix: endpointRange
    destinationPortRanges: storePorts
  }
}

var letIn = {
  name: 'let-app-and-trusted-in'
  properties: {
    priority: 100
    direction: 'Inbound'
    access: 'Allow'
    protocol: 'Tcp'
    sourceAddressPrefixes: concat([appRange, runnerRange], network.trustedNetworks)
    sourcePortRange: '*'
    destinationAddressPrefix: endpointRange
    destinationPortRanges: storePorts
  }
}

var subnets = [
  { name: 'app', range: appRange, rules: [useStores, callOthers] }
  { name: 'endpoints', range: endpointRange, rules: [letIn] }
  { name: 'runners', range: runnerRange, rules: [useStores, callOthers] }
]

resource securityGroup 'Microsoft.Network/networkSecurityGroups@2025-05-01' = [
  for subnet in subnets: {
    name: 'nsg-${common.name.virtualNetwork}-${subnet.name}'
    location: common.location
    tags: common.tags
    properties: { securityRules: concat(subnet.rules, denyTheRest) }
  }
]

resource virtualNetwork 'Microsoft.Network/virtualNetworks@2025-05-01' = {
  name: common.name.virtualNetwork
  location: common.location
  tags: common.tags
  properties: {
    addressSpace: { addressPrefixes: [network.addressPrefix] }
    subnets: [
      for (subnet, i) in subnets: {
        name: subnet.name
        properties: {
          addressPrefix: subnet.range
          networkSecurityGroup: { id: securityGroup[i].id }
          // Otherwise the rules of a subnet do not hold for its private endpoints.
          privateEndpointNetworkPolicies: 'NetworkSecurityGroupEnabled'
          delegations: subnet.name == 'app'
            ? [{ name: 'flex-consumption', properties: { serviceName: 'Microsoft.App/environments' } }]
            : []
        }
      }
    ]
  }
}

resource networkLogs 'Microsoft.Insights/diagnosticSettings@2021-05-01-preview' = {
  name: 'to-workspace'
  scope: virtualNetwork
  properties: logsAndMetrics(common.workspaceId)
}

resource securityLogs 'Microsoft.Insights/diagnosticSettings@2021-05-01-preview' = [
  for (subnet, i) in subnets: {
    name: 'to-workspace'
    scope: securityGroup[i]
    properties: onlyLogs(common.workspaceId)
  }
]
