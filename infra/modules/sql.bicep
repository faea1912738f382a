metadata description = 'The SQL server and its database: made here, or ones that are there.'

import { logsAndMetrics } from '../diagnostics.bicep'
import { Common, SqlAdministrators } from '../types.bicep'

param common Common

@description('False when the server is there: then its owner looks after it.')
param createServer bool

@description('False when the database is there, likewise.')
param createDatabase bool
param administrators SqlAdministrators

@description('Billed by the second and paused when unused, or always there.')
param serverless bool

resource createdServer 'Microsoft.Sql/servers@2025-01-01' = if (createServer) {
  name: common.name.sqlServer
  location: common.location
  tags: common.tags
  properties: {
    version: '12.0'
    minimalTlsVersion: '1.2'
    publicNetworkAccess: common.publicNetwork ? 'Enabled' : 'Disabled'
    // The server itself has nothing to call.
    restrictOutboundNetworkAccess: 'Enabled'
    administrators: {
      administratorType: 'ActiveDirectory'
      principalType: 'Group'
      login: administrators.name
      sid: administrators.objectId
      tenantId: tenant().tenantId
      azureADOnlyAuthentication: true
    }
  }

  resource auditing 'auditingSettings' = {
    name: 'default'
    properties: { state: 'Enabled', isAzureMonitorTargetEnabled: true }
  }

  // A Flex Consumption app outside of a network has no address of its own that could be let in.
  resource azureServices 'firewallRules' = if (common.publicNetwork) {
    name: 'AllowAllWindowsAzureIps'
    properties: { startIpAddress: '0.0.0.0', endIpAddress: '0.0.0.0' }
  }
}

resource server 'Microsoft.Sql/servers@2025-01-01' existing = {
  name: common.name.sqlServer
}

resource createdDatabase 'Microsoft.Sql/servers/databases@2025-01-01' = if (createDatabase) {
  parent: server
  name: common.name.sqlDatabase
  location: common.location
  tags: common.tags
  sku: {
    name: serverless ? 'GP_S_Gen5' : 'GP_Gen5'
    tier: 'GeneralPurpose'
    family: 'Gen5'
    capacity: 2
  }
  properties: {
    collation: 'SQL_Latin1_General_CP1_CI_AS'
    autoPauseDelay: serverless ? 60 : -1
    minCapacity: serverless ? json('0.5') : null
    maxSizeBytes: 32 * 1024 * 1024 * 1024
    zoneRedundant: common.zoneRedundant
    requestedBackupStorageRedundancy: common.zoneRedundant ? 'Geo' : 'Local'
  }
  dependsOn: [createdServer]

  resource shortTermBackups 'backupShortTermRetentionPolicies' = {
    name: 'default'
    properties: { retentionDays: serverless ? 7 : 35 }
  }

  // Not for a database that pauses: Azure refuses long-term backups of one.
  resource longTermBackups 'backupLongTermRetentionPolicies' = if (!serverless) {
    name: 'default'
    properties: { weeklyRetention: 'P5W', monthlyRetention: 'P12M' }
    dependsOn: [shortTermBackups]
  }
}

resource databaseLogs 'Microsoft.Insights/diagnosticSettings@2021-05-01-preview' = if (createDatabase) {
  name: 'to-workspace'
  scope: createdDatabase
  properties: logsAndMetrics(common.workspaceId)
}

// The audit of the whole server is written through its database master.
resource master 'Microsoft.Sql/servers/databases@2025-01-01' existing = {
  parent: createdServer
  name: 'master'
}

resource auditLogs 'Microsoft.Insights/diagnosticSettings@2021-05-01-preview' = if (createServer) {
  name: 'to-workspace'
  scope: master
  properties: {
    workspaceId: common.workspaceId
    logs: [{ category: 'SQLSecurityAuditEvents', enabled: true }]
  }
}
