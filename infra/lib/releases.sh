# The container `releases`: every package that was ever deployed here, and how it went.
# shellcheck shell=bash

# Sets RELEASES: where they are kept, as options of az storage blob.
locate_releases() {
  RELEASES=(--account-name "${OUTPUT[releasesAccountName]}"
    --container-name "${OUTPUT[releasesContainer]}" --auth-mode login)
}

# upload_package FILE: keeps the package, once; the same name has the same content.
upload_package() {
  local name there
  name=$(basename "$1")
  locate_releases
  there=$(patiently false az storage blob exists "${RELEASES[@]}" --name "$name" \
    --query exists --output tsv) || fail_releases
  if [[ $there == true ]]; then
    say "  $name is kept already"
    return
  fi
  change az storage blob upload "${RELEASES[@]}" --name "$name" --file "$1" --overwrite false \
    --no-progress --output none || fail_releases
}

# download_package NAME: into the scratch folder.
download_package() {
  locate_releases
  change az storage blob download "${RELEASES[@]}" --name "$1" --file "$WORK/$1" --no-progress \
    --output none || fail_releases
}

list_releases() {
  locate_releases
  ask '[]' az storage blob list "${RELEASES[@]}" --num-results '*' --include m --query "[].{\
name: name, uploadedAt: properties.creationTime, provenAt: metadata.provenAt, \
withdrawnAt: metadata.withdrawnAt}" --output json || fail_releases
}

# note_release NAME WHAT: writes down that the package was proven or withdrawn.
note_release() {
  locate_releases
  change az storage blob metadata update "${RELEASES[@]}" --name "$1" \
    --metadata "$2=$(date -u +%Y-%m-%dT%H:%M:%SZ)" --output none || fail_releases
}

fail_releases() {
  fail "The container of releases refused, or could not be reached. 403: roles take up to ten minutes
to arrive, run this again. Time-out: it is behind a private endpoint; run this inside the network
(docs/operations/releases.md)."
}

# The package that runs, by the app's settings.
current_release() {
  printf 'extractor-%s-%s.zip\n' "$(app_setting BUILD_VERSION)" "$(app_setting BUILD_COMMIT)"
}

# name_parts FILE: sets VERSION and COMMIT from a package's name.
name_parts() {
  local name
  name=$(basename "$1")
  [[ $name =~ ^extractor-([0-9][0-9A-Za-z.+]*)-([0-9a-f]{7,40})\.zip$ ]] ||
    fail "$name is no package: infra/package.sh makes extractor-VERSION-COMMIT.zip."
  VERSION=${BASH_REMATCH[1]} COMMIT=${BASH_REMATCH[2]}
}
