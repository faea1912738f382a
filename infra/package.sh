#!/usr/bin/env bash
# infra/package.sh [--output FOLDER] [--lock]: builds the package of the commit that is checked out.
#
# The zip holds what .funcignore leaves of the commit, and the wheels that infra/requirements.lock names
# by version and hash, for Python 3.13 on Linux: nothing is built in Azure. The same commit gives the same
# bytes. The last line printed is the package's path (default: dist/extractor-VERSION-COMMIT.zip).
#
# --lock resolves requirements.txt anew and writes infra/requirements.lock instead.

set -euo pipefail
cd "$(dirname "$0")/.."
source infra/lib/common.sh

LOCK=infra/requirements.lock
# What Flex Consumption runs on: Python 3.13 on Debian 12, x86-64.
PLATFORM=(--only-binary :all: --python-version 3.13 --implementation cp --abi cp313
  --platform manylinux_2_28_x86_64 --platform manylinux2014_x86_64 --platform manylinux_2_17_x86_64)

main() {
  local folder=dist
  need git https://git-scm.com
  need_python
  while (($#)); do
    case $1 in
      --help | -h) usage && return ;;
      --lock) write_lock && return ;;
      --output) folder=${2:?--output needs a folder} && shift ;;
      *) fail "What is $1? infra/package.sh --help lists the options." ;;
    esac
    shift
  done
  [[ $folder == /* ]] || folder=$OLDPWD/$folder
  build "$folder"
}

build() {
  local folder=$1 version commit package
  git diff --quiet HEAD -- ':!infra' ':!tests' ':!docs' ||
    say 'There are changes that are not committed: they are not in the package.' >&2
  version=$(sed -n 's/^version = "\(.*\)"$/\1/p' pyproject.toml)
  commit=$(git rev-parse --short=12 HEAD)
  package=$folder/extractor-$version-$commit.zip
  mkdir -p "$folder"
  copy_source "$WORK/app"
  install_wheels "$WORK/app/.python_packages/lib/site-packages"
  python infra.lib.package "$WORK/app" "$package" ||
    fail 'The package could not be written: see above.'
  printf '%s\n' "$package"
}

# The commit, without what .funcignore keeps on this side: in an index of its own, so that what is staged
# or changed beside it plays no part.
copy_source() {
  local -x GIT_INDEX_FILE=$WORK/index
  git read-tree HEAD
  git ls-files -z --cached --ignored --exclude-from=.funcignore | git update-index -z --force-remove --stdin
  git checkout-index --all --prefix="$1/"
}

# No resolving, no building: what the lock names, or an end with pip's reason.
install_wheels() {
  "$PYTHON" -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes --no-compile \
    --target "$1" "${PLATFORM[@]}" --requirement "$LOCK" ||
    fail "The wheels could not be fetched: see above. After a change of requirements.txt: \
infra/package.sh --lock, and commit $LOCK."
  rm -rf "${1:?}/bin" # scripts that name the interpreter of this machine
}

# Markers are read by the Python that runs pip, so it must be the one that Azure has.
write_lock() {
  "$PYTHON" -c 'import sys; sys.exit(sys.version_info[:2] != (3, 13) or sys.platform != "linux")' ||
    fail "The lock is written with Python 3.13 on Linux; $PYTHON is another."
  "$PYTHON" -m pip install --quiet --disable-pip-version-check --dry-run --ignore-installed \
    --target "$WORK/none" "${PLATFORM[@]}" --requirement requirements.txt --report "$WORK/report.json" ||
    fail 'requirements.txt cannot be resolved: see above.'
  python infra.lib.lock <"$WORK/report.json" >"$WORK/lock"
  mv "$WORK/lock" "$LOCK"
  say "Wrote $LOCK"
}

main "$@"
