# How the scripts speak, run commands and stop. Each of them sources this file first.
# shellcheck shell=bash

set -euo pipefail
if ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] < 404)); then
  echo "Bash 4.4 or newer is needed; this is $BASH_VERSION (on macOS: brew install bash)" >&2
  exit 1
fi
shopt -s inherit_errexit

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
PYTHON=${PYTHON:-$ROOT/.venv/bin/python}
WAIT_SECONDS=${WAIT_SECONDS:-15}   # between two looks at something that takes its time
DRY_RUN=false
ASSUME_YES=false
# az says what went wrong, and nothing beside it.
export AZURE_CORE_ONLY_SHOW_ERRORS=true AZURE_CORE_NO_COLOR=true

WORK=$(mktemp -d)
ON_EXIT=()
# Removes the scratch folder, then runs what `on_exit` has noted, the last first.
finish() {
  local i
  rm -rf "$WORK"
  for ((i = ${#ON_EXIT[@]} - 1; i >= 0; i--)); do ${ON_EXIT[i]} || true; done
}
trap finish EXIT
on_exit() { ON_EXIT+=("$1"); }

say() { printf '%s\n' "$*"; }
heading() { printf '\n== %s\n' "$*"; }
# fail MESSAGE...: the last line of a run; it says what to do.
fail() {
  printf '\n%s\n' "$*" >&2
  exit 1
}

# Shows a command as it can be typed; placeholders in <> stay readable.
show() {
  local word line='  $'
  for word in "$@"; do
    [[ $word =~ ^[A-Za-z0-9@%_+=:,./\<\>-]+$ ]] || word="'${word//\'/\'\\\'\'}'"
    line+=" $word"
  done
  printf '%s\n' "$line"
}

# change COMMAND...: runs what changes something; a dry run only shows it.
change() {
  if $DRY_RUN; then show "$@"; else "$@"; fi
}

# ask PLACEHOLDER COMMAND...: prints what Azure answers; a dry run shows the question instead.
ask() {
  local placeholder=$1
  shift
  if $DRY_RUN; then
    show "$@" >&2
    printf '%s\n' "$placeholder"
  else
    "$@"
  fi
}

# patiently COMMAND...: as `ask`, for who was given a role a moment ago, and may be refused for minutes.
patiently() {
  local tries=0
  if $DRY_RUN; then
    ask "$@"
    return
  fi
  until ask "$@" 2>"$WORK/refused"; do
    tries=$((tries + 1))
    if ((tries > 40)) || ! grep -qiE '403|authoriz|permission' "$WORK/refused"; then
      cat "$WORK/refused" >&2
      return 1
    fi
    sleep "$WAIT_SECONDS"
  done
}

# confirm QUESTION: goes on at "yes", and without a question where --yes was given.
confirm() {
  local answer=''
  if $DRY_RUN || $ASSUME_YES; then return; fi
  [[ -t 0 || -n ${ANSWERS_COME_BY_PIPE:-} ]] || fail "$1 Nobody is there to answer: give --yes."
  printf '\n%s Type yes to go on: ' "$1"
  read -r answer || true
  [[ $answer == yes ]] || fail 'Stopped; nothing was changed.'
}

need() { command -v "$1" >/dev/null || fail "$1 is missing. Get it: $2"; }

need_python() {
  [[ -x $PYTHON ]] || fail "$PYTHON is missing: run make install, or set PYTHON."
}

# python MODULE ARGUMENTS...: a module of this repository.
python() { PYTHONPATH=$ROOT "$PYTHON" -m "$@"; }

usage() {
  sed -n '2,/^$/s/^# \{0,1\}//p' "$0"
}
