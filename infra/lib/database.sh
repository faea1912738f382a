# The database: reaching it, its roles, its schema.
# shellcheck shell=bash

# Without a user: whoever is signed in logs in with a token.
database_url() { say "mssql+pyodbc://@${OUTPUT[sqlServerFqdn]}/${OUTPUT[sqlDatabaseName]}"; }

# reach_database: sets DATABASE_URL. Where Azure SQL is open to the internet but not to this
# machine, it is let in until the script ends.
reach_database() {
  local address status=0
  [[ -z ${DATABASE_URL:-} ]] || return 0
  DATABASE_URL=$(database_url)
  address=$(in_database reach) || status=$?
  case $status in
    0) return ;;
    3) let_in "$address" ;;
    *) fail "The database cannot be reached: see above, and docs/operations/releases.md." ;;
  esac
  in_database reach >/dev/null || fail 'The database still does not let this machine in.'
}

# in_database ARGUMENTS...: `reach` prints the address of this machine and answers 3 where the
# firewall of Azure SQL stops it.
in_database() {
  if $DRY_RUN; then
    show env DATABASE_URL="$DATABASE_URL" "${PYTHON#"$ROOT"/}" -m infra.database "$@" >&2
  else
    DATABASE_URL=$DATABASE_URL python infra.database "$@"
  fi
}

let_in() {
  local server
  server=${OUTPUT[sqlServerFqdn]}
  RULE=(--resource-group "$RESOURCE_GROUP" --server "${server%%.*}" --name "deployment-$(date +%s)")
  say "  letting $1 in until the end"
  change az sql server firewall-rule create "${RULE[@]}" --start-ip-address "$1" \
    --end-ip-address "$1" --output none || fail "The firewall of ${server%%.*} cannot be changed."
  on_exit shut_out
  sleep "$WAIT_SECONDS"
}

shut_out() { change az sql server firewall-rule delete "${RULE[@]}" --output none; }

# Who may do what: infra/database/roles.sql, as an administrator of the server.
set_roles() {
  reach_database
  in_database roles --app "${OUTPUT[appIdentityName]}" \
    --migration "${OUTPUT[migrationIdentityName]}" ||
    fail "The roles could not be set: see above. It needs a member of the group sqlAdministrators, and \
the tables of the other services (docs/operations/releases.md)."
}
