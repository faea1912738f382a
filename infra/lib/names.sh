# Names that all of Azure shares: what is not here yet must be free.
# shellcheck shell=bash

# Asks for each name that the deployment would create; those that exist in the group are ours.
check_names() {
  local changes kind name count=0
  changes=$(ask '{"changes": []}' az deployment group what-if --resource-group "$RESOURCE_GROUP" \
    --name "$DEPLOYMENT" --parameters "${TEMPLATE[@]}" --result-format ResourceIdOnly \
    --no-pretty-print --output json) || fail 'Azure does not take the template: see above.'
  changes=$(python infra.lib.answers created <<<"$changes")
  while read -r kind name; do
    [[ -n $kind ]] || continue
    check_name "$kind" "$name"
    count=$((count + 1))
  done <<<"$changes"
  $DRY_RUN || say "  names         $count to be taken, all free"
}

check_name() {
  local kind=$1 name=$2 free
  free=$(name_is_free "$kind" "$name") || fail "Whether the name $name is free could not be asked."
  [[ $free != false ]] || fail "The name $name ($kind) is taken. If somebody has it, choose another in the
parameter names of ${PARAMETERS#"$ROOT"/}. If it was deleted lately, bring it back; a Key Vault with
  az keyvault recover --name $name"
}

name_is_free() {
  case $1 in
    Microsoft.Storage/*) az storage account check-name --name "$2" --query nameAvailable --output tsv ;;
    Microsoft.ServiceBus/*) az servicebus namespace exists --name "$2" --query nameAvailable --output tsv ;;
    Microsoft.KeyVault/*) az keyvault check-name --name "$2" --query nameAvailable --output tsv ;;
    Microsoft.Sql/*) ask_for_name Microsoft.Sql/checkNameAvailability 2023-08-01 "$2" "$1" available ;;
    Microsoft.Web/*) ask_for_name Microsoft.Web/checknameavailability 2024-11-01 "$2" Site nameAvailable ;;
  esac
}

# For kinds for which az has no command of its own.
ask_for_name() {
  az rest --method post \
    --url "https://management.azure.com/subscriptions/$SUBSCRIPTION/providers/$1?api-version=$2" \
    --body "{\"name\": \"$3\", \"type\": \"$4\"}" --query "$5" --output tsv
}
