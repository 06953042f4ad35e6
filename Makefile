.DEFAULT_GOAL := help
SHELL := /bin/bash
PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
ARGS ?=

.PHONY: help setup lock toolchain cluster kubectl fmt lint test test-fast cases demo ci clean

help: ## Lists the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  \033[1m%-12s\033[0m %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(VENV)/.ready ## Makes .venv with everything pinned; quick when nothing changed

$(VENV)/.ready: requirements-dev.txt pyproject.toml
	@echo "setup: installing the pinned packages into $(VENV)"
	@$(PYTHON) -c 'import sys; sys.exit("setup: Python 3.11 or newer is needed, this is " + sys.version.split()[0] + "; name another with make PYTHON=…") if sys.version_info < (3, 11) else None'
	@test -x $(PY) || $(PYTHON) -m venv $(VENV)
	@$(PY) -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.txt
	@$(PY) -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

lock: setup ## Compiles both requirements files from pyproject.toml
	@for out in requirements.txt "requirements-dev.txt --extra dev"; do \
	  $(VENV)/bin/uv pip compile --quiet --generate-hashes --no-header --no-annotate --python-version 3.11 \
	    --exclude-newer "$$(date -u -d '7 days ago' +%Y-%m-%d)" --constraint dev/constraints.txt pyproject.toml --output-file $$out; done

toolchain: setup ## Finds or builds the Pulumi engine, its Kubernetes plugin and the control plane
	@$(PY) -m dev.toolchain

cluster: toolchain ## Runs a control plane in the foreground and prints its KUBECONFIG
	@$(PY) -m dev.controlplane

kubectl: setup ## Runs kubectl: make kubectl ARGS="get ingress -A"
	@$(PY) -m dev.controlplane kubectl -- $(ARGS)

fmt: setup ## Formats the code
	@$(VENV)/bin/ruff format .
	@$(VENV)/bin/ruff check --fix .

clean: ## Removes what the targets made inside the checkout
	rm -rf $(VENV) .toolchain .pytest_cache .mypy_cache .ruff_cache .coverage htmlcov
