metadata description = 'How resources are named: <abbreviation>-extractor-<environment>-<token>, storage accounts without hyphens.'

@export()
@description('Names of resources that are created, instead of the usual ones.')
type Names = {
  functionApp: string?
  plan: string?
  appIdentity: string?
  migrationIdentity: string?
  hostStorage: string?
  documentsStorage: string?
  serviceBus: string?
  sqlServer: string?
  sqlDatabase: string?
  keyVault: string?
  scheduler: string?
  taskHub: string?
  logAnalytics: string?
  applicationInsights: string?
  virtualNetwork: string?
}

@export()
@description('Names of resources of this resource group that are used instead of being created.')
type Existing = {
  documentsAccount: string?
  serviceBusNamespace: string?
  sqlServer: string?

  @description('Needs sqlServer.')
  sqlDatabase: string?
}

@export()
type AllNames = {
  functionApp: string
  plan: string
  appIdentity: string
  migrationIdentity: string
  hostStorage: string
  documentsStorage: string
  serviceBus: string
  sqlServer: string
  sqlDatabase: string
  keyVault: string
  scheduler: string
  taskHub: string
  logAnalytics: string
  applicationInsights: string
  virtualNetwork: string
}

@export()
func namesOf(environment string, token string, given Names, existing Existing) AllNames => {
  functionApp: given.?functionApp ?? 'func-extractor-${environment}-${token}'
  plan: given.?plan ?? 'asp-extractor-${environment}-${token}'
  appIdentity: given.?appIdentity ?? 'id-extractor-${environment}-${token}'
  migrationIdentity: given.?migrationIdentity ?? 'id-migration-extractor-${environment}-${token}'
  hostStorage: given.?hostStorage ?? 'sthost${environment}${token}'
  documentsStorage: existing.?documentsAccount ?? given.?documentsStorage ?? 'stdocs${environment}${token}'
  serviceBus: existing.?serviceBusNamespace ?? given.?serviceBus ?? 'sbns-extractor-${environment}-${token}'
  sqlServer: existing.?sqlServer ?? given.?sqlServer ?? 'sql-extractor-${environment}-${token}'
  sqlDatabase: empty(existing.?sqlServer) && !empty(existing.?sqlDatabase)
    ? fail('existing.sqlDatabase needs existing.sqlServer: a database is on a server')
    : existing.?sqlDatabase ?? given.?sqlDatabase ?? 'sqldb-extractor-${environment}-${token}'
  keyVault: given.?keyVault ?? 'kv-extractor-${environment}-${token}'
  scheduler: given.?scheduler ?? 'dts-extractor-${environment}-${token}'
  taskHub: given.?taskHub ?? 'extractor${environment}'
  logAnalytics: given.?logAnalytics ?? 'log-extractor-${environment}-${token}'
  applicationInsights: given.?applicationInsights ?? 'appi-extractor-${environment}-${token}'
  virtualNetwork: given.?virtualNetwork ?? 'vnet-extractor-${environment}-${token}'
}
