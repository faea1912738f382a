# `make` tells what there is. Variables: FILE=path, ONCE=1, VERBOSE=1 and LOCAL_* (see the README).

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

# HOST counts on the command line only: some shells have a variable of that name.
# Passed through the environment: a file's name may hold anything.
export FILE

PYTHON := .venv/bin/python
LOCAL_DATA ?= .local
FILES ?= 1000
SEED ?= 1
on = $(filter-out 0 no false off,$(1))

# What is missing, and where to get it.
missing = { echo '$(1) is missing. Get it: $(2)' >&2; exit 1; }

PYTHON_PACKAGES := .venv/.installed
NODE_PACKAGES := node_modules/.installed

.PHONY: help install run submit jobs logs reset test check format schemas bench load soak chaos \
  infra infra-tools snapshots

help:
	@echo 'make run      start the embedded Azure, show one job from end to end, restart a failed one'
	@echo '              FILE=path.pdf: your own document; ONCE=1: end with the job; VERBOSE=1: all logs'
	@echo '              HOST=func: everything but the host, for the Azure Functions Core Tools'
	@echo 'make submit   FILE=path.pdf: submit another document to what runs'
	@echo 'make jobs     the newest jobs'
	@echo 'make logs     follow the logs of all parts'
	@echo 'make reset    clear the data folder ($(LOCAL_DATA))'
	@echo 'make test     all tests, with the coverage of shared/'
	@echo 'make check    ruff, ruff format and mypy'
	@echo 'make format   let ruff format the code'
	@echo 'make chaos    FILES=1000 SEED=1: kill parts at random while files go through, then count'
	@echo 'make bench    measure latencies, jobs, restarts, publishing, the import of the app and the'
	@echo '              embedded host: half an hour'
	@echo 'make load     20 operators and 100 status messages a second for a minute, then the claims'
	@echo 'make soak     10,000 jobs with the purge on: whether time and memory stay as they are'
	@echo 'make schemas  write docs/messages, asyncapi.json and openapi.json from the models'
	@echo 'make infra    all tests of infra/, with the tools that only they need'
	@echo 'make snapshots  write what each environment would hold, after a change of the Bicep'
	@echo 'make install  install what is missing; the others do it themselves'

install: $(PYTHON_PACKAGES) $(NODE_PACKAGES)

run: install
	@$(PYTHON) -m local.demo $(if $(call on,$(ONCE)),--once) $(if $(call on,$(VERBOSE)),--verbose) \
	  $(if $(filter command,$(origin HOST)),--host '$(HOST)')

submit: install
	@$(PYTHON) -m local.demo.submit

jobs: install
	@$(PYTHON) -m local.demo.jobs

logs:
	@ls '$(LOCAL_DATA)'/logs/*.log >/dev/null 2>&1 || \
	  { echo 'There are no logs in $(LOCAL_DATA) yet: start with make run' >&2; exit 1; }
	@tail -n 10 -F '$(LOCAL_DATA)'/logs/*.log

reset: install
	@$(PYTHON) -m local.supervisor.reset

test: install
	$(PYTHON) -m pytest -n 2 --cov --cov-report=term:skip-covered

check: install
	$(PYTHON) -m ruff check .
	$(PYTHON) -m ruff format --check .
	$(PYTHON) -m mypy shared local infra function_app.py

chaos: install
	@$(PYTHON) -m tests.chaos --files $(FILES) --seed $(SEED)

schemas: install
	@$(PYTHON) -m shared.contracts.schemas docs/messages
	@$(PYTHON) -m shared.contracts.asyncapi docs/asyncapi.json
	@$(PYTHON) -m shared.functions.openapi_document docs/openapi.json

infra: infra-tools
	$(PYTHON) -m pytest -n 2 --dist loadgroup tests/contract/infra

# Large, and at odds with each other and with the app: each in an environment of its own.
infra-tools: install $(patsubst infra/requirements-%.txt,.venv-%/.installed,$(wildcard infra/requirements-*.txt))

.venv-%/.installed: infra/requirements-%.txt .venv/bin/python
	@echo 'Making .venv-$*; it takes some minutes'
	@$(PYTHON) -m venv .venv-$*
	@.venv-$*/bin/python -m pip install --disable-pip-version-check --quiet -r $<
	@touch $@

snapshots: install
	@$(PYTHON) -m tests.contract.infra.snapshots

format: install
	$(PYTHON) -m ruff format .

bench: install
	@for subject in imports publisher latency restart jobs host engine; do $(PYTHON) -m benchmarks.$$subject; echo; done

load: install
	@$(PYTHON) -m benchmarks.load

soak: install
	@$(PYTHON) -m benchmarks.soak

# A name that is found may still be a shim that fails: only what runs, and is new enough, counts.
.venv/bin/python:
	@for name in python3.13 python3.14 python3 python; do \
	  if $$name -c 'import sys; sys.exit(sys.version_info < (3, 13))' 2>/dev/null; then break; fi; \
	  name=; \
	done; \
	test -n "$$name" || $(call missing,Python 3.13 or newer,https://www.python.org/downloads/); \
	$$name -c 'import venv, ensurepip' 2>/dev/null || \
	  $(call missing,The venv module of Python,apt install python3-venv on Debian and Ubuntu); \
	echo "Making .venv with $$($$name --version)"; \
	$$name -m venv .venv

$(PYTHON_PACKAGES): .venv/bin/python requirements.txt requirements-dev.txt
	@command -v cc gcc clang >/dev/null || \
	  $(call missing,A C compiler,apt install build-essential; on macOS xcode-select --install)
	@test -e "$$($(PYTHON) -c 'import sysconfig as s; print(s.get_path("include"))')/Python.h" || \
	  $(call missing,Python.h,apt install python3-dev on Debian and Ubuntu)
	@printf 'Installing Python packages; the first time takes about a minute '
	@set -o pipefail; \
	$(PYTHON) -m pip install --disable-pip-version-check -r requirements-dev.txt \
	  2> .venv/install.log | \
	  while read -r word _; do \
	    case $$word in Collecting|Building|Installing) printf .;; esac; \
	  done || { echo; cat .venv/install.log >&2; exit 1; }
	@echo ' done'
	@touch $@

$(NODE_PACKAGES): package.json package-lock.json
	@node -e 'process.exit(+(process.versions.node.split(".")[0] < 20))' 2>/dev/null || \
	  $(call missing,Node 20 or newer,https://nodejs.org)
	@command -v npm >/dev/null || $(call missing,npm,https://nodejs.org or apt install npm)
	@echo 'Installing Azurite, the local Blob Storage'
	@npm ci --no-audit --no-fund --loglevel=error
	@touch $@
