# What must be so before anything is changed in Azure.
# shellcheck shell=bash

PROVIDERS=(Microsoft.App Microsoft.Web Microsoft.ServiceBus Microsoft.Sql Microsoft.KeyVault
  Microsoft.Storage Microsoft.Network Microsoft.Insights Microsoft.OperationalInsights
  Microsoft.ManagedIdentity)
PYTHON_VERSION=3.13

check_tools() {
  need git https://git-scm.com
  need openssl 'apt install openssl; it makes the call-back key'
  need_python
  $DRY_RUN || need az https://aka.ms/azure-cli
}

# Says to which subscription things go, and who sends them there.
check_login() {
  local account
  account=$(ask $'<subscription>\n<id>\n<tenant>\n<user>' \
    az account show --query '[name, id, tenantId, user.name]' --output tsv) ||
    fail 'You are not logged in: az login, then az account set --subscription NAME.'
  mapfile -t account < <(tr '\t' '\n' <<<"$account")
  say "  subscription  ${account[0]} (${account[1]})"
  say "  tenant        ${account[2]}"
  say "  signed in as  ${account[3]}"
  SUBSCRIPTION=${account[1]}
}

check_providers() {
  local registered provider missing=()
  [[ $(parameter durableBackend) != scheduler ]] || PROVIDERS+=(Microsoft.DurableTask)
  registered=$(ask "$(printf '%s\n' "${PROVIDERS[@]}")" az provider list \
    --query "[?registrationState=='Registered'].namespace" --output tsv)
  for provider in "${PROVIDERS[@]}"; do
    grep -qixF "$provider" <<<"$registered" || missing+=("$provider")
  done
  ((${#missing[@]} == 0)) || fail "The subscription has not registered what the service needs. \
Once, with the right to register providers:
$(printf '  az provider register --wait --namespace %s\n' "${missing[@]}")"
  say "  providers     ${#PROVIDERS[@]} registered"
}

check_region() {
  local locations versions
  find_location
  locations=$(ask "$LOCATION" az functionapp list-flexconsumption-locations \
    --query '[].name' --output tsv)
  grep -qixF "${LOCATION// /}" <<<"$locations" ||
    fail "$LOCATION has no Flex Consumption plan. There is one in: $(tr '\n' ' ' <<<"$locations")"
  versions=$(ask "$PYTHON_VERSION" az functionapp list-flexconsumption-runtimes \
    --location "$LOCATION" --runtime python --query '[].version' --output tsv)
  grep -qxF "$PYTHON_VERSION" <<<"$versions" ||
    fail "$LOCATION has no Python $PYTHON_VERSION on Flex Consumption, only: $(tr '\n' ' ' <<<"$versions")"
  say "  region        $LOCATION, Flex Consumption with Python $PYTHON_VERSION"
}

# Sets LOCATION: what was said, else where the resource group is, else what the parameters say.
find_location() {
  [[ -z ${LOCATION:-} ]] || return 0
  LOCATION=$(ask '<location>' az group list --query "[?name=='$RESOURCE_GROUP'].location | [0]" \
    --output tsv)
  LOCATION=${LOCATION:-$(parameter location)}
  [[ -n $LOCATION ]] || fail "$RESOURCE_GROUP is not there yet. Say where it is to be: \
--location REGION, for instance westeurope."
}

# Who deploys needs rights beside those of Azure: they are given in the parameter file.
check_deployer() {
  local who
  who=$(ask '' signed_in)
  [[ -n $who ]] || return 0
  mapfile -t who <<<"$who"
  check_listed deployerPrincipals "${who[@]}" 'keep releases and set the call-back key'
  check_listed fileServicePrincipals "${who[@]}" 'send the file of the probe'
}

# The token goes from az to a reader that prints whose it is; it is shown nowhere.
signed_in() {
  az account get-access-token --query accessToken --output tsv | python infra.lib.answers principal
}

check_listed() {
  local list=$1 object_id=$2 kind=$3 purpose=$4 found
  found=$(python infra.lib.answers listed "$list" "$object_id" <"$WORK/parameters.json")
  case $found in
    no) fail "You may not yet $purpose. Add to $list in ${PARAMETERS#"$ROOT"/}:
  { name: 'who you are', principalId: '$object_id', principalType: '$kind' }" ;;
    unknown) say "  $list     has groups: one of them should be yours, to $purpose" ;;
  esac
}
