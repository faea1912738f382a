metadata description = 'The storage account of the functions host: its leases, its orchestrations, and the packages of the app.'

import { Common } from '../types.bicep'

param common Common

@export()
var deploymentsContainer = 'deployments'

@export()
var releasesContainer = 'releases'

module account 'storage-account.bicep' = {
  params: {
    common: common
    name: common.name.hostStorage
    sku: common.zoneRedundant ? 'Standard_ZRS' : 'Standard_LRS'
    containers: [deploymentsContainer, releasesContainer]
    undeleteDays: 14
    // No release is ever deleted: any of them may be the one to roll back to.
    lifecycleRules: [
      {
        name: 'old-releases-cost-less'
        type: 'Lifecycle'
        definition: {
          filters: { blobTypes: ['blockBlob'], prefixMatch: ['${releasesContainer}/'] }
          actions: { baseBlob: { tierToCool: { daysAfterModificationGreaterThan: 30 } } }
        }
      }
    ]
  }
}
