"""Parameter files for what no environment has, each beside a copy of the template."""

NOBODY = "00000000-0000-0000-0000-000000000000"
EXTRACTOR = "11111111-1111-1111-1111-111111111111"
FILE_SERVICE = "22222222-2222-2222-2222-222222222222"
STATUS_SERVICE = "33333333-3333-3333-3333-333333333333"
DEPLOYER = "44444444-4444-4444-4444-444444444444"

_PRINCIPALS = f"""
param extractorPrincipals = [
  {{ name: 'invoices', principalId: '{EXTRACTOR}', principalType: 'ServicePrincipal' }}
]
param fileServicePrincipals = [
  {{ name: 'file service', principalId: '{FILE_SERVICE}', principalType: 'ServicePrincipal' }}
]
param statusServicePrincipals = [
  {{ name: 'Status service', principalId: '{STATUS_SERVICE}', principalType: 'ServicePrincipal' }}
]
param deployerPrincipals = [
  {{ name: 'pipeline', principalId: '{DEPLOYER}', principalType: 'Group' }}
]
"""

_NEEDED = f"""
using '../main.bicep'
param environmentName = 'dev'
param sqlServerless = true
param sqlAdministrators = {{ name: 'administrators', objectId: '{NOBODY}' }}
param alerts = {{ emails: [], webhooks: [] }}
"""

TUNED = {
    "jobCallTimeoutMinutes": "61",
    "jobStartTimeoutMinutes": "16",
    "jobRunTimeoutMinutes": "62",
    "jobMaxWaitHours": "49",
    "signedUrlMinutes": "93",
    "extractorMaxActiveJobs": "101",
    "autoRetryEnabled": "false",
    "retryBackoffSeconds": "31",
    "retryBackoffMaxSeconds": "3601",
    "purgeAfterDays": "31",
    "purgeJobs": "true",
}
"""Every tunable of the parameter `app`, none with its default."""

_TUNED = "\n".join(f"  {name}: {value}" for name, value in TUNED.items())

SCHEDULER = f"""
{_NEEDED}
param privateNetwork = true
param serviceBusSku = 'Premium'
param durableBackend = 'scheduler'
param disabledFunctions = ['on_file_accepted', 'reconcile']
param app = {{
  registrationUrl: 'https://registration.example'
  registrationAudience: 'api://registration'
  authIssuers: ['https://issuer.example', 'https://issuer.example']
  authAudiences: ['one', 'two']
  authJwksUrl: 'https://issuer.example/keys'
  authTenant: 'a-tenant'
{_TUNED}
}}
{_PRINCIPALS}
"""
"""In a network of its own, orchestrations in a scheduler, everything set that can be."""

GIVEN = f"""
{_NEEDED}
param privateNetwork = false
param serviceBusSku = 'Standard'
param existing = {{
  documentsAccount: 'theirdocuments'
  serviceBusNamespace: 'their-namespace'
  sqlServer: 'their-server'
  sqlDatabase: 'their-database'
}}
param documentsContainers = ['invoices', 'letters']
param app = {{ registrationAudience: 'api://registration', authAudiences: ['one'] }}
{_PRINCIPALS}
"""
"""Database, documents and namespace are there already."""

PRIVATE_STANDARD = f"""
{_NEEDED}
param privateNetwork = true
param serviceBusSku = 'Standard'
param app = {{ registrationAudience: 'api://registration', authAudiences: ['one'] }}
"""
"""A contradiction: a Standard namespace has no private endpoints."""

DATABASE_WITHOUT_SERVER = f"""
{_NEEDED}
param privateNetwork = false
param serviceBusSku = 'Standard'
param existing = {{ sqlDatabase: 'their-database' }}
param app = {{ registrationAudience: 'api://registration', authAudiences: ['one'] }}
"""
"""A contradiction: the server of that database would have to be made."""

VARIANTS = {
    "dev.scheduler": SCHEDULER,
    "dev.given": GIVEN,
    "dev.private-standard": PRIVATE_STANDARD,
    "dev.database-without-server": DATABASE_WITHOUT_SERVER,
}
