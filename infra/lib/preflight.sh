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
    fail "You are not logged in, or have chosen no subscription:
  az login
  az account set --subscription NAME"
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

# Who deploys keeps releases, sets the call-back key, and sends the file of the probe. Where the
# lists of those who may are not set, it is whoever is signed in.
name_deployer() {
  local token who principal
  token=$(ask '' az account get-access-token --query accessToken --output tsv) ||
    fail "Azure gives no token:
  az login"
  [[ -n $token ]] || return 0
  who=$(printf '%s' "$token" | python infra.lib.answers principal)
  mapfile -t DEPLOYER <<<"$who"
  principal="{\"name\": \"deployer\", \"principalId\": \"${DEPLOYER[0]}\", \"principalType\": \"${DEPLOYER[1]}\"}"
  export DEPLOYER_PRINCIPALS=${DEPLOYER_PRINCIPALS:-[$principal]}
  export FILE_SERVICE_PRINCIPALS=${FILE_SERVICE_PRINCIPALS:-[$principal]}
}

# What belongs to a tenant is no part of the repository; placeholders only let the file compile.
check_parameters() {
  local missing
  missing=$(python infra.lib.answers placeholders <"$WORK/parameters.json")
  [[ -z $missing ]] || $DRY_RUN || fail "These parameters still hold placeholders: ${missing//$'\n'/, }.
Set the variables that infra/environments/$ENVIRONMENT.bicepparam reads, in your shell or as NAME=value
lines in infra/environments/$ENVIRONMENT.env."
  [[ -n ${DEPLOYER[*]:-} ]] || return 0
  check_listed deployerPrincipals 'keep releases and set the call-back key'
  check_listed fileServicePrincipals 'send the file of the probe'
}

check_listed() {
  local list=$1 purpose=$2 found
  found=$(python infra.lib.answers listed "$list" "${DEPLOYER[0]}" <"$WORK/parameters.json")
  case $found in
    no) fail "You may not $purpose. Add yourself to $list:
  {\"name\": \"…\", \"principalId\": \"${DEPLOYER[0]}\", \"principalType\": \"${DEPLOYER[1]}\"}" ;;
    unknown) say "  $list has groups: one of them should be yours, to $purpose" ;;
  esac
}
