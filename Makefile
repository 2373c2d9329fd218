# `make replay` runs the main job, `make test` the tests; each sets up what it needs, in .venv.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
TRACE ?= traces/multi-turn-chat.jsonl

.PHONY: all replay test lint types golden bench docs clean

all: lint types test

$(VENV)/installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	touch $@

$(VENV)/installed-dev: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $@ $(VENV)/installed

replay: $(VENV)/installed
	$(BIN)/fakbench replay $(TRACE) --now 0

test: $(VENV)/installed-dev
	$(BIN)/python -m pytest

lint: $(VENV)/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/installed-dev
	$(BIN)/mypy

# Refresh every golden report, and show which are changed or new (??): read `git diff reports` before you commit it.
golden: $(VENV)/installed-dev
	$(BIN)/fakbench check --update
	git status --short -- reports
	git --no-pager diff --stat -- reports

bench: $(VENV)/installed
	$(BIN)/python benchmarks/replay_speed.py
	$(BIN)/python benchmarks/startup.py
	$(BIN)/python benchmarks/metrics_overhead.py
	$(BIN)/python benchmarks/reading.py

docs: $(VENV)/installed-dev
	$(BIN)/python docs/generate.py

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
