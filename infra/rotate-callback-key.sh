#!/usr/bin/env bash
# infra/rotate-callback-key.sh ENV [--dry-run] [--yes]: another key signs call-back tokens from now on.
#
# Tokens of the key before it stay good until the next rotation, so rotate again no sooner than
# SIGNED_URL_MINUTES later: then the older one is gone for good.

set -euo pipefail
cd "$(dirname "$0")/.."
source infra/lib/common.sh
source infra/lib/environment.sh
source infra/lib/outputs.sh
source infra/lib/app.sh
source infra/lib/callback-keys.sh

main() {
  [[ $# -gt 0 && $1 != --help && $1 != -h ]] || { usage; exit 0; }
  use_environment "$1"
  shift
  while (($#)); do
    case $1 in
      --dry-run) DRY_RUN=true ;;
      --yes) ASSUME_YES=true ;;
      *) fail "What is $1? infra/rotate-callback-key.sh --help lists the options." ;;
    esac
    shift
  done
  need openssl 'apt install openssl'
  need_python
  read_outputs
  confirm "Rotate the call-back key of $ENVIRONMENT?"
  rotate_callback_key
  say "Rotated. The app reads the vault within minutes; tokens of the key before stay good."
}

main "$@"
