metadata description = 'The function app on a Flex Consumption plan. Its settings are in app-settings.bicep.'

import { onlyMetrics } from '../diagnostics.bicep'
import { Common, Scale } from '../types.bicep'
import { deploymentsContainer } from 'host-storage.bicep'

param common Common
param scale Scale

resource identity 'Microsoft.ManagedIdentity/userAssignedIdentities@2024-11-30' existing = {
  name: common.name.appIdentity
}

resource plan 'Microsoft.Web/serverfarms@2025-03-01' = {
  name: common.name.plan
  location: common.location
  tags: common.tags
  kind: 'functionapp'
  sku: { name: 'FC1', tier: 'FlexConsumption' }
  properties: { reserved: true, zoneRedundant: common.zoneRedundant }
}

resource site 'Microsoft.Web/sites@2025-03-01' = {
  name: common.name.functionApp
  location: common.location
  tags: common.tags
  kind: 'functionapp,linux'
  identity: {
    type: 'UserAssigned'
    userAssignedIdentities: { '${identity.id}': {} }
  }
  properties: {
    serverFarmId: plan.id
    httpsOnly: true
    // Operators and extractors call it from anywhere; every call needs a token.
    publicNetworkAccess: 'Enabled'
    keyVaultReferenceIdentity: identity.id
    virtualNetworkSubnetId: common.publicNetwork
      ? null
      : resourceId('Microsoft.Network/virtualNetworks/subnets', common.name.virtualNetwork, 'app')
    // Nothing else: the plan refuses most of what other plans take, in some regions.
    siteConfig: { minTlsVersion: '1.2', scmMinTlsVersion: '1.2', http20Enabled: true }
    functionAppConfig: {
      deployment: {
        storage: {
          type: 'blobContainer'
          value: 'https://${common.name.hostStorage}.blob.${environment().suffixes.storage}/${deploymentsContainer}'
          authentication: { type: 'UserAssignedIdentity', userAssignedIdentityResourceId: identity.id }
        }
      }
      runtime: { name: 'python', version: '3.13' }
      scaleAndConcurrency: {
        instanceMemoryMB: scale.instanceMemoryMB
        maximumInstanceCount: scale.maximumInstances
        alwaysReady: scale.readyInstances > 0 ? [{ name: 'http', instanceCount: scale.readyInstances }] : []
        // A Python app would take one request per instance: most of ours only wait for the database.
        triggers: { http: { perInstanceConcurrency: 16 } }
      }
    }
  }

  resource ftp 'basicPublishingCredentialsPolicies' = {
    name: 'ftp'
    properties: { allow: false }
  }

  resource scm 'basicPublishingCredentialsPolicies' = {
    name: 'scm'
    properties: { allow: false }
  }
}

resource metrics 'Microsoft.Insights/diagnosticSettings@2021-05-01-preview' = {
  name: 'to-workspace'
  scope: site
  properties: onlyMetrics(common.workspaceId)
}

output url string = 'https://${site.properties.defaultHostName}'
