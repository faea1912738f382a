#!/usr/bin/env bash
# infra/rollback.sh ENV [options]: puts the package back that worked last.
#
#   --list      shows the packages that are kept, and which of them worked
#   --to NAME   this one instead
#   --yes       no question; for pipelines
#   --dry-run   shows the commands that it would run
#
# The database stays as it is: every release runs on the schema of the next (docs/operations/releases.md).

set -euo pipefail
cd "$(dirname "$0")/.."
source infra/lib/common.sh
source infra/lib/environment.sh
source infra/lib/outputs.sh
source infra/lib/releases.sh
source infra/lib/database.sh
source infra/lib/app.sh

TARGET=''
LIST=false

main() {
  local current
  read_arguments "$@"
  need_python
  read_outputs
  current=$(current_release)
  list_releases >"$WORK/releases.json"
  if $LIST; then
    python infra.lib.releases list "$current" <"$WORK/releases.json" || say 'No package is kept here.'
    return
  fi
  choose_target "$current"
  confirm "Put $TARGET back in place of $current?"
  put_back "$current"
}

read_arguments() {
  [[ $# -gt 0 && $1 != --help && $1 != -h ]] || { usage; exit 0; }
  use_environment "$1"
  shift
  while (($#)); do
    case $1 in
      --dry-run) DRY_RUN=true ;;
      --yes) ASSUME_YES=true ;;
      --list) LIST=true ;;
      --to) TARGET=${2:?--to needs the name of a package} && shift ;;
      *) fail "What is $1? infra/rollback.sh --help lists the options." ;;
    esac
    shift
  done
}

choose_target() {
  if [[ -z $TARGET ]] && $DRY_RUN; then
    TARGET=extractor-0.0.0-0000000.zip # stands for the one that worked last
  fi
  if [[ -z $TARGET ]]; then
    TARGET=$(python infra.lib.releases previous "$1" <"$WORK/releases.json") ||
      fail "No other package has worked in $ENVIRONMENT. infra/rollback.sh $ENVIRONMENT --list shows \
those that are kept; --to NAME takes one of them all the same."
  fi
  name_parts "$TARGET"
}

put_back() {
  heading "Putting $TARGET back"
  download_package "$TARGET"
  change az functionapp config appsettings set --name "${OUTPUT[functionAppName]}" \
    --resource-group "$RESOURCE_GROUP" --output none \
    --settings "BUILD_VERSION=$VERSION" "BUILD_COMMIT=$COMMIT" ||
    fail 'The settings of the app could not be changed; nothing else was.'
  put_package "$WORK/$TARGET"
  [[ $1 == "$TARGET" ]] || note_release "$1" withdrawnAt
  heading 'Probe'
  probe || fail "The probe failed on $TARGET too: look at what both need (docs/operations/runbook.md)."
  heading "Done: $ENVIRONMENT runs $TARGET. The next infra/deploy.sh brings the newest again."
}

main "$@"
