# The verbs of this project. `make help` lists them.

PYTHON ?= python3.11
VENV   := .venv
BIN    := $(VENV)/bin
ARGS   ?=
DIR    ?=

# Newer Pythons serve as well; python3 is the second choice because on most systems it is some other version.
ifeq ($(origin PYTHON),file)
PYTHON := $(or $(firstword $(foreach name,python3.11 python3.12 python3.13 python3,$(shell command -v $(name)))),python3.11)
endif

CONSTRAINTS := requirements/dev.txt
RUNTIME     ?= lowest
RUN         := $(BIN)/codecage run --tools examples/files.py
INPUTS      := pyproject.toml requirements/dev.txt requirements/engine.txt

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help setup demo test test-wheel test-languages lint format proto proto-check bench bench-profile bench-plots test262 \
    erasure-compare soak fuzz clean

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(VENV)/.ready ## make .venv with everything needed to run and test; no npm, Node or compiler

demo: setup ## run the example programs over real files
	@printf '\n== Count the orders of each status\n'
	$(RUN) examples/count_statuses/script.js
	@printf '\n== Name, version and privacy of every package.json under two folders\n'
	$(RUN) examples/package_versions/script.js
	@printf '\n== Every controller without a test\n'
	$(RUN) examples/controllers_without_tests/script.js
	@printf '\n== The ten largest packages of the Python standard library\n'
	CODECAGE_EXAMPLE_ROOT="$$($(BIN)/python -c 'import os; print(os.path.dirname(os.__file__))')" \
	    $(RUN) examples/demo/script.js

test: setup ## run the tests; ARGS go to pytest
	$(BIN)/python -m pytest $(ARGS)

test-wheel: setup ## run the tests against the built wheel and the RUNTIME, lowest (default) or newest
	sh scripts/test_wheel.sh $(BIN)/python $(RUNTIME) $(ARGS)

test-languages: setup ## build and run the clients in Node, Go, Java and C++; needs their compilers, and npm
	$(BIN)/python -m pytest -m languages $(ARGS)

lint: $(VENV)/.ready-lint ## check style, types, imports, the protocol and its generated code
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/lint-imports --no-cache --no-logo
	$(BIN)/buf lint
	$(BIN)/buf format --diff --exit-code
	$(BIN)/buf breaking --against tests/contract/released
	$(BIN)/python scripts/generate_proto.py --check
	$(BIN)/mypy
	$(BIN)/pyright --pythonpath $(BIN)/python

format: setup ## rewrite the code in the project's style
	$(BIN)/ruff check --fix-only
	$(BIN)/ruff format
	$(BIN)/buf format --write

proto: setup ## generate the Python modules beside every .proto
	$(BIN)/python scripts/generate_proto.py

proto-check: setup ## fail if generated code is not what would be generated now
	$(BIN)/python scripts/generate_proto.py --check

bench: setup ## run the benchmarks; ARGS=--quick for a short look
	$(BIN)/python -m benchmarks $(ARGS)

bench-profile: setup ## say where the time of a small run goes, phase by phase
	$(BIN)/python -m benchmarks.profile $(ARGS)

bench-plots: setup ## measure growth and draw it into docs/images; needs the extra `bench`
	mkdir -p build
	$(BIN)/python -m benchmarks --only growth --json $(ARGS) > build/growth.json
	$(BIN)/python -m benchmarks.plots build/growth.json docs/images

test262: setup ## run a checkout of test262, named by DIR, in workers; ARGS="--sample 3000" for a part
	@test -n "$(DIR)" || { echo "test262: name a checkout: make test262 DIR=path/to/test262" >&2; exit 1; }
	$(BIN)/python scripts/test262.py "$(DIR)" $(ARGS)

erasure-compare: ## compare the erasure of types with ts-blank-space's; needs Node 20 and npm
	@command -v node >/dev/null && command -v npm >/dev/null || \
	    { echo "erasure-compare: node and npm are needed, and nothing else in this project needs them" >&2; exit 1; }
	node scripts/compare_erasure.mjs $(ARGS)

soak: setup ## run the long tests; CODECAGE_SOAK_RUNS sets their length
	$(BIN)/python -m pytest -m soak -s $(ARGS)

fuzz: $(VENV)/.ready-fuzz ## fuzz what reads from a worker, guided by coverage; ARGS="run --seconds 600" for one target
	$(BIN)/python -m tests.fuzz.guided $(ARGS)

clean: ## remove what the targets made
	rm -rf $(VENV) build dist .coverage .coverage.* .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# pip reads PIP_CONSTRAINT for what it builds with as well, which -c does not reach. The engine goes in without its
# dependencies: they need npm and are never used.
$(VENV)/.ready: $(INPUTS)
	@test "$$(uname -s)" = Linux || { echo "setup: Codecage runs on Linux only; this is $$(uname -s)" >&2; exit 1; }
	@command -v "$(PYTHON)" >/dev/null || \
	    { echo "setup: $(PYTHON) is not there; install Python 3.11 or name another: make setup PYTHON=..." >&2; exit 1; }
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	    { echo "setup: Python 3.11 or newer is needed; $(PYTHON) is $$("$(PYTHON)" -V)" >&2; exit 1; }
	@"$(PYTHON)" -c 'import ensurepip, venv' 2>/dev/null || \
	    { echo "setup: $(PYTHON) cannot make virtual environments; on Debian: apt-get install python3-venv" >&2; exit 1; }
	@echo "setup: filling $(VENV); the first time takes about half a minute"
	@# An environment that works is kept: making it anew with another Python would mix the two.
	$(BIN)/python -m pip --version >/dev/null 2>&1 || "$(PYTHON)" -m venv --clear $(VENV)
	PIP_CONSTRAINT=$(CONSTRAINTS) $(BIN)/python -m pip install --quiet --disable-pip-version-check \
	    -e '.[server,cli,dev]' -c $(CONSTRAINTS)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check \
	    --no-deps --only-binary :all: -r requirements/engine.txt
	@touch $@

$(VENV)/.ready-fuzz: $(VENV)/.ready
	PIP_CONSTRAINT=$(CONSTRAINTS) $(BIN)/python -m pip install --quiet --disable-pip-version-check \
	    -e '.[fuzz]' -c $(CONSTRAINTS)
	@touch $@

$(VENV)/.ready-lint: $(VENV)/.ready
	PIP_CONSTRAINT=$(CONSTRAINTS) $(BIN)/python -m pip install --quiet --disable-pip-version-check \
	    -e '.[lint]' -c $(CONSTRAINTS)
	@touch $@
