metadata description = 'The two identities: one that the app runs as, one that changes the database schema.'

import { Common } from '../types.bicep'

param common Common

resource app 'Microsoft.ManagedIdentity/userAssignedIdentities@2024-11-30' = {
  name: common.name.appIdentity
  location: common.location
  tags: common.tags
}

// Has no role in Azure: infra/database/ makes it the owner of the schema, and of nothing else.
resource migration 'Microsoft.ManagedIdentity/userAssignedIdentities@2024-11-30' = {
  name: common.name.migrationIdentity
  location: common.location
  tags: common.tags
}

output appClientId string = app.properties.clientId
output migrationClientId string = migration.properties.clientId
