#!/usr/bin/env bash
# infra/destroy.sh ENV [--dry-run]: deletes the environment with everything in its resource group.
#
# It asks twice, and there is no --yes. Deleted for good: the database, the accepted files, the messages,
# the logs. The Key Vault can be brought back for 90 days, and keeps its name as long.

set -euo pipefail
cd "$(dirname "$0")/.."
source infra/lib/common.sh
source infra/lib/environment.sh

main() {
  [[ $# -gt 0 && $1 != --help && $1 != -h ]] || { usage; exit 0; }
  use_environment "$1"
  [[ ${2:-} != --dry-run ]] || DRY_RUN=true
  need_python
  compile_parameters
  refuse_what_belongs_to_others
  heading "Everything in $RESOURCE_GROUP:"
  ask '' az resource list --resource-group "$RESOURCE_GROUP" --query '[].{name: name, type: type}' \
    --output table || fail "There is no resource group $RESOURCE_GROUP in this subscription."
  type_it "$ENVIRONMENT" 'All of this will be deleted for good.'
  type_it "$RESOURCE_GROUP" 'Its data cannot be brought back.'
  change az group delete --name "$RESOURCE_GROUP" --yes || fail "$RESOURCE_GROUP was not deleted, or not \
wholly: a lock, or a role that is missing. Run this again when that is mended."
  say "$RESOURCE_GROUP is gone."
}

# Resources that the service only uses live in the same group, and would go with it.
refuse_what_belongs_to_others() {
  local existing
  existing=$(parameter existing)
  [[ -z $existing || $existing == '{}' ]] || fail "$RESOURCE_GROUP also holds what others made, and the \
service only uses: $existing. Delete the resources of the service one by one; they are
  az resource list --resource-group $RESOURCE_GROUP --tag service=extractor"
}

type_it() {
  local answer=''
  if $DRY_RUN; then return; fi
  printf '\n%s Type %s to go on: ' "$2" "$1"
  read -r answer || true
  [[ $answer == "$1" ]] || fail 'Stopped; nothing was deleted.'
}

main "$@"
