# The app itself: putting a package onto it, its references to the vault, and the probe.
# shellcheck shell=bash

# put_package FILE: the app is restarted on it; what it was doing is finished later.
put_package() {
  change az functionapp deployment source config-zip --name "${OUTPUT[functionAppName]}" \
    --resource-group "$RESOURCE_GROUP" --src "$1" --build-remote false --timeout 900 --output none ||
    fail "The package could not be deployed. The release before still runs, or infra/rollback.sh \
$ENVIRONMENT puts it back. Deployment logs: the app's page in the portal, Deployment, Logs."
}

# The app reads the vault again; without this it would within a day.
refresh_references() {
  local site
  site=$(ask '/subscriptions/<subscription>/sites/<functionAppName>' az functionapp show \
    --name "${OUTPUT[functionAppName]}" --resource-group "$RESOURCE_GROUP" --query id --output tsv)
  change az rest --method post --output none --url "https://management.azure.com$site\
/config/configreferences/appsettings/refresh?api-version=2022-03-01" ||
    fail 'The app could not be told to read the vault again: restart it in the portal.'
}

# app_setting NAME: one setting of the app, none of which is a secret.
app_setting() {
  ask "<$1>" az functionapp config appsettings list --name "${OUTPUT[functionAppName]}" \
    --resource-group "$RESOURCE_GROUP" --query "[?name=='$1'].value | [0]" --output tsv ||
    fail "The settings of ${OUTPUT[functionAppName]} cannot be read."
}

# probe: sends one file through. PROBE_CLIENT or PROBE_EXTRACTOR_URL name a real extractor.
probe() {
  local audiences switched_off
  audiences=$(app_setting AUTH_AUDIENCES)
  switched_off=$(app_setting AzureWebJobs_on_file_accepted_Disabled)
  [[ $switched_off == true ]] || switched_off=false
  reach_database
  change env PROBE_URL="${OUTPUT[functionAppUrl]}" \
    PROBE_VERSION="$VERSION" PROBE_COMMIT="$COMMIT" \
    PROBE_ONLY_LOOK="$switched_off" \
    PROBE_API_SCOPE="${PROBE_API_SCOPE:-${audiences%%,*}/.default}" \
    PROBE_DATABASE_URL="$DATABASE_URL" \
    PROBE_BLOB_ACCOUNT_URL="https://${OUTPUT[documentsAccountName]}.blob.core.windows.net" \
    PROBE_BLOB_CONTAINER="${OUTPUT[documentsContainer]}" \
    PROBE_SERVICE_BUS_NAMESPACE="${OUTPUT[serviceBusNamespaceFqdn]}" \
    PYTHONPATH="$ROOT" "$PYTHON" -m infra.probe
}
