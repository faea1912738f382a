#!/usr/bin/env bash
# infra/what-if.sh ENV [--drift] [--dry-run]: what a deployment of this commit would change, changing nothing.
#
# --drift compares with the commit that runs, lists what differs, and answers 2 when something does:
# somebody has changed the environment by hand. It takes the right to read, and
# Microsoft.Resources/deployments/whatIf/action; and that commit in this clone.

set -euo pipefail
cd "$(dirname "$0")/.."
source infra/lib/common.sh
source infra/lib/environment.sh
source infra/lib/outputs.sh

DRIFT=false

main() {
  local version=dev commit=unknown
  [[ $# -gt 0 && $1 != --help && $1 != -h ]] || { usage; exit 0; }
  use_environment "$1"
  shift
  while (($#)); do
    case $1 in
      --drift) DRIFT=true ;;
      --dry-run) DRY_RUN=true ;;
      *) fail "What is $1? infra/what-if.sh --help lists the options." ;;
    esac
    shift
  done
  need_python
  if $DRIFT; then go_back_to_what_runs; fi
  WHAT_IF=(az deployment group what-if --resource-group "$RESOURCE_GROUP" --name "$DEPLOYMENT"
    --parameters "$PARAMETERS" --parameters "buildVersion=$version" "buildCommit=$commit"
    --validation-level providerNoRbac)
  if $DRIFT; then look_for_drift; else show_what_if; fi
}

# Sets the version and commit of `main` to those of the app that runs, and PARAMETERS to theirs.
go_back_to_what_runs() {
  local live
  need curl 'apt install curl'
  read_outputs
  live=$(ask '{"version": "<version>", "commit": "<commit>"}' curl --fail --silent --show-error \
    --max-time 60 "${OUTPUT[functionAppUrl]}/health/live") ||
    fail "${OUTPUT[functionAppUrl]} does not answer: what it should be compared with is not known."
  live=$(python infra.lib.answers live <<<"$live")
  read -r version commit <<<"$live"
  if $DRY_RUN; then return; fi
  git worktree add --quiet --detach "$WORK/tree" "$commit" ||
    fail "The commit that runs, $commit, is not in this clone: git fetch --unshallow."
  on_exit 'git worktree prune'
  PARAMETERS=$WORK/tree/${PARAMETERS#"$ROOT"/}
}

show_what_if() {
  change "${WHAT_IF[@]}" || fail 'Azure does not take the template: see above.'
}

look_for_drift() {
  local changes
  changes=$(ask '{"changes": []}' "${WHAT_IF[@]}" --no-pretty-print --output json) ||
    fail 'Azure does not take the template: see above.'
  changes=$(python infra.lib.answers changed <<<"$changes")
  if [[ -z $changes ]]; then
    say "$ENVIRONMENT is as it was deployed."
    return
  fi
  say "$ENVIRONMENT is not as it was deployed:"
  say "$changes"
  exit 2
}

main "$@"
