#!/usr/bin/env bash
# infra/migrate.sh [ENV] [--url | --sql]: brings the schema [extractor] to its newest revision.
#
# Runs on any machine that sees the database and has this repository: one in the network when all is
# private. It logs in as whoever DefaultAzureCredential finds: the migration identity where it is
# attached (set AZURE_CLIENT_ID to its client id) or signed in (a pipeline), else you (az login).
# With DATABASE_URL set neither ENV nor az is needed; --url prints what it is for ENV. --sql prints the
# script for a DBA instead.

set -euo pipefail
cd "$(dirname "$0")/.."
source infra/lib/common.sh
source infra/lib/environment.sh
source infra/lib/outputs.sh
source infra/lib/database.sh

main() {
  need_python
  case "$*" in
    --help | -h) usage && return ;;
    *--sql) python alembic upgrade head --sql && return ;;
  esac
  if [[ -z ${DATABASE_URL:-} ]]; then
    [[ $# -gt 0 ]] || fail 'Which environment? infra/migrate.sh ENV, or set DATABASE_URL.'
    use_environment "$1"
    read_outputs
    [[ ${2:-} != --url ]] || { database_url && return; }
    reach_database
  fi
  in_database check || fail 'Nothing was migrated.'
  say "  before  $(revision)"
  DATABASE_URL=$DATABASE_URL python alembic upgrade head ||
    fail 'Nothing was migrated: it is one transaction. The lines above say what stopped it.'
  say "  after   $(revision)"
}

revision() { DATABASE_URL=$DATABASE_URL python infra.database revision; }

main "$@"
