# What the deployment told: names and addresses, nothing secret.
# shellcheck shell=bash

DEPLOYMENT=extractor # its name in Azure: one at a time, and the last one can be asked
OUTPUTS=(functionAppName functionAppUrl releasesAccountName releasesContainer
  serviceBusNamespaceFqdn sqlServerFqdn sqlDatabaseName documentsAccountName documentsContainer
  appIdentityName appIdentityClientId migrationIdentityName migrationIdentityClientId keyVaultName)
declare -A OUTPUT

# Reads what the last deployment told into OUTPUT; a dry run has <NAME> for each.
read_outputs() {
  local told name value
  for name in "${OUTPUTS[@]}"; do OUTPUT[$name]="<$name>"; done
  told=$(ask '{}' az deployment group show --resource-group "$RESOURCE_GROUP" \
    --name "$DEPLOYMENT" --query properties.outputs --output json) ||
    fail "$RESOURCE_GROUP has no deployment yet: run infra/deploy.sh $ENVIRONMENT first."
  if $DRY_RUN; then return; fi
  told=$(python infra.lib.answers outputs "${OUTPUTS[@]}" <<<"$told") ||
    fail 'infra/main.bicep does not tell what the scripts need: the line above names it.'
  while read -r name value; do OUTPUT[$name]=$value; done <<<"$told"
}
