.DEFAULT_GOAL := help
SHELL := /bin/bash
PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
ARGS ?=
MOTO := .toolchain/moto
# Most tests of the engine wait for processes; more than three workers keep two processors no busier.
WORKERS ?= 3
# Some machines forbid compiled modules, without which each start of pic takes a tenth of a second more.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help setup lock toolchain servers cluster pihole kubectl fmt lint test test-fast cases kills chaos fuzz bench bench-plan bench-pihole docs demo demo-pihole ci clean

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

lock: setup ## Compiles the requirements files from pyproject.toml and dev/moto.in
	@for out in requirements.txt "requirements-dev.txt --extra dev"; do \
	  $(VENV)/bin/uv pip compile --quiet --no-strip-extras --generate-hashes --no-header --no-annotate --python-version 3.11 \
	    --exclude-newer "$$(date -u -d '7 days ago' +%Y-%m-%d)" --constraint dev/constraints.txt pyproject.toml --output-file $$out; done
	@$(VENV)/bin/uv pip compile --quiet --no-strip-extras --generate-hashes --no-header --no-annotate --python-version 3.11 \
	  --exclude-newer "$$(date -u -d '7 days ago' +%Y-%m-%d)" dev/moto.in --output-file dev/moto.txt

toolchain: setup ## Finds or builds the Pulumi engine, its Kubernetes plugin and the control plane
	@$(PY) -m dev.toolchain

servers: $(MOTO)/.ready ## Installs what stands in for S3 in the tests of the state backends, and unpacks dnsmasq
	@$(PY) -m dev.pihole fetch

$(MOTO)/.ready: dev/moto.txt | $(VENV)/.ready
	@echo "servers: installing moto into $(MOTO)"
	@test -x $(MOTO)/bin/python || $(PYTHON) -m venv $(MOTO)
	@$(MOTO)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r dev/moto.txt
	@touch $@

cluster: toolchain ## Runs a control plane in the foreground and prints its KUBECONFIG
	@$(PY) -m dev.controlplane

pihole: setup ## Runs a Pi-hole in the foreground and prints its URL, password and DNS port; ARGS="--tls"
	@$(PY) -m dev.pihole fetch
	@$(PY) -m dev.pihole $(ARGS)

kubectl: setup ## Runs kubectl: make kubectl ARGS="get ingress -A"
	@$(PY) -m dev.controlplane kubectl -- $(ARGS)

fmt: setup ## Formats the code
	@$(VENV)/bin/ruff format .
	@$(VENV)/bin/ruff check --fix .

lint: setup ## ruff, formatting, mypy, import contracts, and the count of uncovered marks
	@$(VENV)/bin/ruff check .
	@$(VENV)/bin/ruff format --check .
	@$(VENV)/bin/mypy
	@$(VENV)/bin/lint-imports --no-logo
	@$(PY) -m dev.marks

test: toolchain servers ## Every test: unit, scenarios, program, cluster, engine; with coverage of pic/
	@$(PY) -m pytest -q -n $(WORKERS) --dist worksteal --cov --cov-report=term

test-fast: setup ## Unit, scenario and program tests only: no cluster, no engine
	@$(PY) -m pytest -q -n $(WORKERS) --dist worksteal tests/unit tests/scenarios tests/program tests/deploy tests/dev tests/docs tests/support

cases: setup ## Runs the cases of ../shared/cases, where that folder is
	@if test -d ../shared/cases; then $(PY) ../shared/cases/run_cases.py ../shared/cases --project . --python $(PY); \
	  else echo "cases: there is no ../shared/cases, so there is nothing to run"; fi

kills: setup toolchain ## Kills 20 deployments of 300 hosts at any moment, and 20 through a proxy: each heals in one run
	@PIC_KILLS=20 $(PY) -m pytest -q tests/engine/test_killed.py

chaos: setup toolchain ## Lets everything fail for two minutes, and judges: CHAOS_SECONDS=120 CHAOS_SEED=7
	@$(PY) -m dev.chaos

fuzz: setup ## Plans 20,000 mutated manifests: never a traceback; make fuzz ARGS="--seed 7"
	@$(PY) -m dev.fuzz $(ARGS)

bench: toolchain ## Times pic beside kubectl and a naive program, half an hour; BENCH_HOSTS=1000 BENCH_ROUNDS=3
	@$(PY) -m bench

bench-plan: setup ## Times the planning of 1,000 to 10,000 Ingresses from memory
	@$(PY) -m bench.plan

bench-pihole: toolchain ## Times 100 and 1,000 records in a Pi-hole, and looks for gaps, five minutes; BENCH_HOSTS=100
	@$(PY) -m dev.pihole fetch
	@$(PY) -m bench.pihole

bench-watch: toolchain ## Times the watcher from an Ingress to its object, and what it takes idle; BENCH_HOSTS=1000 BENCH_ROUNDS=30
	@$(PY) -m bench.watch

docs: setup ## Writes the pages of docs/ that are made from code
	@$(PY) -m dev.docs

demo: toolchain ## Shows everything on a cluster of its own, in about a minute
	@$(PY) -m dev.demo

demo-pihole: toolchain ## Shows the Pi-hole target: records, conflicts, refusals, outages; under a minute
	@$(PY) -m dev.pihole fetch
	@$(PY) -m dev.demo_pihole

ci: setup ## What .ci/run runs
	@$(MAKE) --no-print-directory lint
	@$(MAKE) --no-print-directory test
	@$(MAKE) --no-print-directory cases

clean: ## Removes what the targets made inside the checkout
	rm -rf $(VENV) .toolchain .pytest_cache .mypy_cache .ruff_cache .coverage htmlcov bench/out
