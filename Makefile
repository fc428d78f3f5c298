# Every target does its own set-up in .venv: a fresh machine needs Python 3.11 or later and make, nothing else.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet --constraint constraints.txt
# what pip would compile for a wheel, and the kernels
COMPILE := $(BIN)/python -m compileall -q src/celosia && $(BIN)/celosia compile

# Some machines tell Python to keep no bytecode: every command, and every worker of the tests, would compile anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo test test-slow test-external test-engines lint format docs bench bench-smoke fingerprints clean

help:  ## what there is
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 16

demo: $(VENV)/.run  ## the main job end to end on generated data
	$(BIN)/celosia demo --output celosia-demo

test: $(VENV)/.test  ## all tests but the slow and external ones, by two workers
	$(BIN)/python -m pytest --numprocesses 2 --dist worksteal

test-slow: $(VENV)/.test  ## the slow tests
	$(BIN)/python -m pytest -m slow --timeout 1800

test-external: $(VENV)/.test  ## tests on public data beside the checkout that are not slow, skipped where there are none
	$(BIN)/python -m pytest -m 'external and not slow' --timeout 1800

test-engines: $(VENV)/.engines  ## tests on PostgreSQL and Spark, skipped where they are not installed
	SPARK_LOCAL_IP=127.0.0.1 $(BIN)/python -m pytest -m engines --timeout 900

lint: $(VENV)/.lint  ## ruff, mypy --strict, import-linter
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/.lint  ## let ruff format and mend what it can
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

docs: $(VENV)/.docs  ## build the documentation and run its examples
	$(BIN)/sphinx-build -q -W --keep-going -b html docs docs/_build/html
	$(BIN)/sphinx-build -q -W --keep-going -b doctest docs docs/_build/doctest
	@echo "look at docs/_build/html/index.html"

bench: $(VENV)/.bench  ## every benchmark; the last table is committed in benchmarks/RESULTS.md
	$(BIN)/python -m benchmarks

bench-smoke: $(VENV)/.bench  ## every benchmark at a toy size: does it still run?
	$(BIN)/python -m benchmarks --smoke

fingerprints: $(VENV)/.bench  ## compare the results of some seventy runs with the committed ones
	$(BIN)/python -m benchmarks fingerprints

clean:  ## remove what the targets made
	rm -rf $(VENV) docs/_build benchmarks/.data celosia-demo .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.run: $(BIN)/python pyproject.toml constraints.txt
	$(PIP) --editable .
	$(COMPILE)
	@touch $@

$(VENV)/.%: $(BIN)/python pyproject.toml constraints.txt
	$(PIP) --editable '.[$*]'
	$(COMPILE)
	@touch $@

# The type checker looks at the tests and benchmarks too, and so needs what they need.
$(VENV)/.lint: $(VENV)/.test $(VENV)/.bench
