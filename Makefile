.DEFAULT_GOAL := help
SHELL := /bin/bash
PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
ARGS ?=
MOTO := .toolchain/moto
# Most tests of the engine wait for processes. Three workers keep two processors busy.
WORKERS ?= 3
# Some environments set this variable. Without compiled modules each start of pic takes 0.1 s longer.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help setup lock toolchain servers cluster pihole pangolin kubectl fmt lint test test-fast cases kills chaos fuzz bench bench-plan bench-register bench-pihole bench-watch docs demo demo-pihole ci clean

help: ## Lists the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  \033[1m%-13s\033[0m %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(VENV)/.ready ## Creates .venv with pinned packages; fast if nothing has changed

$(VENV)/.ready: requirements-dev.txt pyproject.toml
	@echo "setup: installing the pinned packages into $(VENV)"
	@$(PYTHON) -c 'import sys; sys.exit("setup: Python 3.11 or newer is needed, but this is " + sys.version.split()[0] + ": choose another with make PYTHON=…") if sys.version_info < (3, 11) else None'
	@test -x $(PY) || $(PYTHON) -m venv $(VENV)
	@$(PY) -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.txt
	@$(PY) -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

lock: setup ## Compiles the lock files from pyproject.toml and dev/moto.in
	@for out in requirements.txt "requirements-dev.txt --extra dev"; do \
	  $(VENV)/bin/uv pip compile --quiet --no-strip-extras --generate-hashes --no-header --no-annotate --python-version 3.11 \
	    --exclude-newer "$$(date -u -d '7 days ago' +%Y-%m-%d)" --constraint dev/constraints.txt pyproject.toml --output-file $$out; done
	@$(VENV)/bin/uv pip compile --quiet --no-strip-extras --generate-hashes --no-header --no-annotate --python-version 3.11 \
	  --exclude-newer "$$(date -u -d '7 days ago' +%Y-%m-%d)" dev/moto.in --output-file dev/moto.txt

toolchain: setup ## Finds or builds the Pulumi engine, its Kubernetes plugin and the control plane
	@$(PY) -m dev.toolchain

servers: $(MOTO)/.ready ## Installs moto, which simulates S3 in tests, and dnsmasq
	@$(PY) -m dev.pihole fetch

$(MOTO)/.ready: dev/moto.txt | $(VENV)/.ready
	@echo "servers: installing moto into $(MOTO)"
	@test -x $(MOTO)/bin/python || $(PYTHON) -m venv $(MOTO)
	@$(MOTO)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r dev/moto.txt
	@touch $@

cluster: toolchain ## Runs a control plane in the foreground, and prints its KUBECONFIG
	@$(PY) -m dev.controlplane

pihole: setup ## Runs a simulated Pi-hole in the foreground, and prints its URL, password and DNS port; ARGS="--tls"
	@$(PY) -m dev.pihole fetch
	@$(PY) -m dev.pihole $(ARGS)

pangolin: setup ## Runs a simulated Pangolin API in the foreground, and prints its URL and key; ARGS="--slow"
	@$(PY) -m dev.pangolin_api $(ARGS)

kubectl: setup ## Runs kubectl against that control plane: make kubectl ARGS="get ingress -A"
	@$(PY) -m dev.controlplane kubectl -- $(ARGS)

fmt: setup ## Formats the code
	@$(VENV)/bin/ruff format .
	@$(VENV)/bin/ruff check --fix .

lint: setup ## Runs ruff, mypy and the import contracts, and counts the "no cover" marks
	@$(VENV)/bin/ruff check .
	@$(VENV)/bin/ruff format --check .
	@$(VENV)/bin/mypy
	@$(VENV)/bin/lint-imports --no-logo
	@$(PY) -m dev.marks

test: toolchain servers ## Runs every test, and measures the coverage of pic/
	@$(PY) -m pytest -q -n $(WORKERS) --dist loadgroup --cov --cov-report=term

test-fast: setup ## Runs the tests that need neither a cluster nor the engine
	@$(PY) -m pytest -q -n $(WORKERS) --dist worksteal tests/unit tests/scenarios tests/program tests/deploy tests/dev tests/docs tests/support

cases: setup ## Runs the cases in every folder ../shared/cases*, if there is one
	@failed=0; for folder in $(wildcard ../shared/cases*); do \
	  echo "cases: $$folder"; $(PY) $$folder/run_cases.py $$folder --project . --python $(PY) || failed=1; done; \
	if test -z "$(wildcard ../shared/cases*)"; then echo "cases: ../shared/cases* does not exist, so no case runs"; fi; \
	exit $$failed

kills: setup toolchain ## Kills 20 deployments at random moments, and 20 through a proxy: one more run must repair each
	@PIC_KILLS=20 $(PY) -m pytest -q tests/engine/test_killed.py

chaos: setup toolchain ## Runs the watcher for two minutes among random failures and an attacker; CHAOS_SECONDS=120 CHAOS_SEED=7
	@$(PY) -m dev.chaos

fuzz: setup ## Plans 20,000 mutated manifests, or the files of a folder, without a traceback; ARGS="--corpus FOLDER"
	@$(PY) -m dev.fuzz $(ARGS)

bench: setup ## Times pic against kubectl and a naive program, in half an hour; BENCH_HOSTS=1000 BENCH_ROUNDS=3
	@$(PY) -m bench

bench-register: setup ## Measures the size of the register and what it adds to a run; BENCH_HOSTS=10000 BENCH_ROUNDS=5
	@$(PY) -m bench.register

bench-plan: setup ## Times the planning of 1,000 to 10,000 Ingresses in memory
	@$(PY) -m bench.plan

bench-pihole: setup ## Times 100 and 1,000 records in Pi-hole and looks for DNS gaps, in five minutes; BENCH_HOSTS=100
	@$(PY) -m dev.pihole fetch
	@$(PY) -m bench.pihole

bench-watch: setup ## Times the watcher from Ingress to object, and measures it when idle; BENCH_HOSTS=1000 BENCH_ROUNDS=30
	@$(PY) -m bench.watch

docs: setup ## Writes the pages of docs/ that are generated from code
	@$(PY) -m dev.docs

demo: setup ## Shows pic on a temporary cluster, in about a minute
	@$(PY) -m dev.demo

demo-pihole: setup ## Shows the Pi-hole target on a temporary cluster, in less than a minute
	@$(PY) -m dev.pihole fetch
	@$(PY) -m dev.demo_pihole

ci: setup ## Runs lint, test and cases, as .ci/run does
	@$(MAKE) --no-print-directory lint
	@$(MAKE) --no-print-directory test
	@$(MAKE) --no-print-directory cases

clean: ## Removes everything that the targets create in the checkout
	rm -rf $(VENV) .toolchain .pytest_cache .mypy_cache .ruff_cache .coverage htmlcov bench/out
