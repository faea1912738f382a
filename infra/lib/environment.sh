# What an environment is: its parameter file, its resource group, its deployment.
# shellcheck shell=bash

# use_environment NAME: sets ENVIRONMENT, PARAMETERS and RESOURCE_GROUP.
use_environment() {
  ENVIRONMENT=$1
  PARAMETERS=$ROOT/infra/environments/$ENVIRONMENT.bicepparam
  RESOURCE_GROUP=rg-extractor-$ENVIRONMENT
  [[ $ENVIRONMENT =~ ^[a-z]+$ && -f $PARAMETERS ]] ||
    fail "There is no environment '$ENVIRONMENT': infra/environments has $(environments)."
  read_variables "${PARAMETERS%.bicepparam}.env"
}

# What belongs to a tenant may lie beside the parameters, as NAME=value lines.
read_variables() {
  [[ -f $1 ]] || return 0
  set -a
  # shellcheck source=/dev/null
  source "$1"
  set +a
}

environments() {
  local file names=()
  for file in "$ROOT"/infra/environments/*.bicepparam; do names+=("$(basename "$file" .bicepparam)"); done
  printf '%s' "${names[*]}"
}

# Compiles the parameters, and with them the template that they are of.
compile_parameters() {
  build_parameters >"$WORK/parameters.json" ||
    fail "infra/environments/$ENVIRONMENT.bicepparam does not compile: the lines above say why."
}

build_parameters() {
  if command -v bicep >/dev/null; then
    bicep build-params "$PARAMETERS" --stdout
  else
    az bicep build-params --file "$PARAMETERS" --stdout
  fi
}

# parameter NAME: a parameter's value; empty when the file leaves it to the template.
parameter() { python infra.lib.answers parameter "$1" <"$WORK/parameters.json"; }
