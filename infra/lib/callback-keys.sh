# The keys of call-back tokens: one secret of the vault, one key or two with a comma between them.
# They are made here, go straight into the vault, and are shown nowhere.
# shellcheck shell=bash

SECRET=callback-keys

make_key() { openssl rand -base64 48 | tr -d '\n'; }

# Keeps what is in the scratch folder: as a file, so that no list of processes shows it.
keep_keys() {
  change az keyvault secret set --vault-name "${OUTPUT[keyVaultName]}" --name "$SECRET" \
    --file "$WORK/keys" --encoding utf-8 --output none || fail_vault
  rm -f "$WORK/keys"
  refresh_references
}

# Makes the first key where there is none.
ensure_callback_key() {
  local there
  there=$(patiently '' az keyvault secret list --vault-name "${OUTPUT[keyVaultName]}" \
    --query "[?name=='$SECRET'].name | [0]" --output tsv) || fail_vault
  if [[ $there == "$SECRET" ]]; then
    say '  there is one already'
    return
  fi
  make_key >"$WORK/keys"
  keep_keys
}

# Puts another key in front, which signs from now on; the one before it is accepted as well.
rotate_callback_key() {
  local before
  before=$(ask '<keys>' az keyvault secret show --vault-name "${OUTPUT[keyVaultName]}" --name "$SECRET" \
    --query value --output tsv) || fail_vault
  { make_key && printf ',%s' "${before%%,*}"; } >"$WORK/keys"
  keep_keys
}

fail_vault() {
  fail "The vault refused, or could not be reached. 403: roles take up to ten minutes to arrive, run \
this again. Time-out: it is behind a private endpoint; run this inside the network \
(docs/operations/releases.md)."
}
