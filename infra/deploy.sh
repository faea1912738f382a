#!/usr/bin/env bash
# infra/deploy.sh ENV [options]: brings an environment to what this commit says, and proves it.
#
#   --location REGION   where to make the resource group; asked for the first time only
#   --package FILE      this package (of another environment, say) instead of building one
#   --steps A,B,…       only these of: infrastructure, keys, upload, roles, migrate, release, probe
#   --yes               no question; for pipelines
#   --dry-run           does all that needs no Azure, and shows the commands that it would run
#
# Safe to run again at any time: what is there already is left as it is.
# PROBE_CLIENT or PROBE_EXTRACTOR_URL let the probe meet a real extractor (docs/operations/releases.md).

set -euo pipefail
cd "$(dirname "$0")/.."
source infra/lib/common.sh
source infra/lib/environment.sh
source infra/lib/outputs.sh
source infra/lib/preflight.sh
source infra/lib/names.sh
source infra/lib/releases.sh
source infra/lib/callback-keys.sh
source infra/lib/database.sh
source infra/lib/app.sh

ALL_STEPS=(infrastructure keys upload roles migrate release probe)
STEPS=("${ALL_STEPS[@]}")
PACKAGE=''

main() {
  read_arguments "$@"
  heading "Before anything is changed in $ENVIRONMENT"
  check_tools
  check_login
  name_deployer
  compile_parameters
  check_parameters
  if wanted infrastructure upload release probe; then get_package; fi
  if wanted infrastructure; then deploy_infrastructure; fi
  if [[ ${STEPS[*]} == infrastructure ]]; then return; fi
  read_outputs
  if wanted keys; then step 'Call-back key' ensure_callback_key; fi
  if wanted upload; then step 'Package kept' upload_package "$PACKAGE"; fi
  if wanted roles; then step 'Database roles' set_roles; fi
  if wanted migrate; then step 'Database schema' migrate; fi
  if wanted release; then step 'Package deployed' put_package "$PACKAGE"; fi
  if wanted probe; then step 'Probe' prove; fi
  if $DRY_RUN; then
    heading 'Nothing was changed: this was a dry run.'
  elif wanted release; then
    heading "Done: $ENVIRONMENT runs $(basename "$PACKAGE") at ${OUTPUT[functionAppUrl]}"
  else
    heading "Done: ${STEPS[*]}"
  fi
}

step() {
  heading "$1"
  shift
  "$@"
}

read_arguments() {
  [[ $# -gt 0 && $1 != --help && $1 != -h ]] || { usage; exit 0; }
  use_environment "$1"
  shift
  while (($#)); do
    case $1 in
      --dry-run) DRY_RUN=true ;;
      --yes) ASSUME_YES=true ;;
      --location) LOCATION=${2:?--location needs a region} && shift ;;
      --package) PACKAGE=${2:?--package needs a file} && shift ;;
      --steps) read_steps "${2:?--steps needs names}" && shift ;;
      *) fail "What is $1? infra/deploy.sh --help lists the options." ;;
    esac
    shift
  done
}

read_steps() {
  local name
  IFS=, read -ra STEPS <<<"$1"
  for name in "${STEPS[@]}"; do
    [[ " ${ALL_STEPS[*]} " == *" $name "* ]] || fail "There is no step $name, only: ${ALL_STEPS[*]}."
  done
}

# wanted STEP...: whether one of these was asked for.
wanted() {
  local name
  for name in "$@"; do
    if [[ " ${STEPS[*]} " == *" $name "* ]]; then return; fi
  done
  return 1
}

# The package that was given, or one that is built of the commit that is checked out.
get_package() {
  if [[ -z $PACKAGE ]]; then
    PACKAGE=$(infra/package.sh --output "$WORK" | tail -n 1)
  fi
  [[ $PACKAGE == /* ]] || PACKAGE=$OLDPWD/$PACKAGE # as the caller saw it
  [[ -f $PACKAGE ]] || fail "There is no package $PACKAGE."
  name_parts "$PACKAGE"
  say "  package       $(basename "$PACKAGE")"
}

deploy_infrastructure() {
  check_providers
  check_region
  TEMPLATE=("$PARAMETERS" --parameters "buildVersion=$VERSION" "buildCommit=$COMMIT")
  change az group create --name "$RESOURCE_GROUP" --location "$LOCATION" \
    --tags service=extractor "environment=$ENVIRONMENT" --output none ||
    fail "The resource group $RESOURCE_GROUP could not be made: you need Contributor on the subscription, \
or somebody who has it makes the group for you."
  check_names
  heading 'What will change'
  change az deployment group what-if --resource-group "$RESOURCE_GROUP" --name "$DEPLOYMENT" \
    --parameters "${TEMPLATE[@]}" || fail 'Azure does not take the template: see above.'
  confirm "Deploy this to $ENVIRONMENT?"
  heading 'Infrastructure'
  change az deployment group create --resource-group "$RESOURCE_GROUP" --name "$DEPLOYMENT" \
    --parameters "${TEMPLATE[@]}" --output none ||
    fail "The deployment failed; what it made stays, and running this again goes on from there. \
What went wrong is in
  az deployment operation group list --resource-group $RESOURCE_GROUP --name $DEPLOYMENT"
}

migrate() {
  reach_database
  if $DRY_RUN; then
    show env DATABASE_URL="$DATABASE_URL" infra/migrate.sh
  else
    DATABASE_URL=$DATABASE_URL infra/migrate.sh
  fi
}

prove() {
  probe || fail "The probe failed. Put the release before back: infra/rollback.sh $ENVIRONMENT"
  note_release "$(basename "$PACKAGE")" provenAt
}

main "$@"
