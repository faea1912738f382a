metadata description = 'The shapes of the parameters.'

import { AllNames } from 'names.bicep'

@export()
type Tags = { *: string }

@export()
@description('Somebody who gets access from outside of the service.')
type Principal = {
  @description('Who it is, for people that read the parameter file.')
  name: string

  @description('Object id of the service principal, managed identity, group or user.')
  principalId: string

  principalType: 'ServicePrincipal' | 'Group' | 'User'
}

@export()
@description('What nearly every module needs to know.')
type Common = {
  location: string
  tags: Tags
  name: AllNames

  @description('False closes every store to everything but the private endpoints.')
  publicNetwork: bool

  @description('Spreads resources over the zones of the region.')
  zoneRedundant: bool

  @description('Log Analytics workspace that everything reports to.')
  workspaceId: string
}

@export()
@description('What the app needs to know of the world around it; then settings that may differ from their defaults.')
type App = {
  @description('Address of the registration service; the app itself when it is left out.')
  registrationUrl: string?

  @description('Audience of the token that is sent to it.')
  registrationAudience: string

  @description('Accepted token issuers; Entra ID of authTenant, once per audience, when left out.')
  authIssuers: string[]?

  @description('The audience of each issuer, in the same order.')
  @minLength(1)
  authAudiences: string[]

  @description('Where the issuer publishes its keys; Entra ID of authTenant when left out.')
  authJwksUrl: string?

  @description('The only accepted tenant; that of the subscription when left out.')
  authTenant: string?

  @minValue(1)
  @maxValue(10080)
  jobCallTimeoutMinutes: int?

  @minValue(1)
  @maxValue(10080)
  jobStartTimeoutMinutes: int?

  @minValue(1)
  @maxValue(10080)
  jobRunTimeoutMinutes: int?

  @minValue(1)
  @maxValue(168)
  jobMaxWaitHours: int?

  @minValue(1)
  @maxValue(8640)
  signedUrlMinutes: int?

  @minValue(1)
  @maxValue(10000)
  extractorMaxActiveJobs: int?

  autoRetryEnabled: bool?

  @minValue(1)
  @maxValue(86400)
  retryBackoffSeconds: int?

  @minValue(1)
  @maxValue(86400)
  retryBackoffMaxSeconds: int?

  @minValue(8)
  purgeAfterDays: int?

  purgeJobs: bool?
}

@export()
@description('How far the app may scale, and how large an instance is.')
type Scale = {
  instanceMemoryMB: 512 | 2048 | 4096

  @minValue(40)
  @maxValue(1000)
  maximumInstances: int

  @description('Instances that always wait for HTTP calls, so that none meets a cold start; each costs money.')
  @minValue(0)
  @maxValue(20)
  readyInstances: int
}

@export()
@description('The Entra group whose members administer the SQL server; nobody else may make users there.')
type SqlAdministrators = {
  name: string
  objectId: string
}

@export()
@description('The network of its own, where the app has one.')
type Network = {
  @description('At least a /22: the subnets are its first three /24.')
  addressPrefix: string

  @description('Ranges of peered networks that may reach the stores.')
  trustedNetworks: string[]
}

@export()
type Logs = {
  @minValue(30)
  @maxValue(730)
  retentionDays: int

  @description('Gigabytes a day after which no more is taken in until the next; -1 for no limit.')
  dailyQuotaGb: int
}

@export()
@description('Who is told when something goes wrong.')
type Recipients = {
  emails: string[]

  @description('Addresses that are called with the common alert schema.')
  webhooks: string[]
}
