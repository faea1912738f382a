metadata description = 'The storage account of the documents: made here, or one that is there.'

import { Common } from '../types.bicep'

param common Common

@description('False when the account is there: then its owner looks after it.')
param create bool
param containers string[]

module account 'storage-account.bicep' = if (create) {
  params: {
    common: common
    name: common.name.documentsStorage
    // The only copies of what clients sent: kept in a second region as well.
    sku: common.zoneRedundant ? 'Standard_GZRS' : 'Standard_LRS'
    containers: containers
    undeleteDays: 30
    lifecycleRules: [
      {
        name: 'old-documents-cost-less'
        type: 'Lifecycle'
        definition: {
          filters: { blobTypes: ['blockBlob'] }
          actions: { baseBlob: { tierToCool: { daysAfterModificationGreaterThan: 30 } } }
        }
      }
    ]
  }
}
