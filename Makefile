# Everything a contributor runs. `make` lists the targets; PYTHON=python3.12 chooses the interpreter.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# `make check` takes the tools of .venv when it is there, else those on the PATH.
RUN = $(if $(wildcard $(BIN)/ruff),$(BIN)/)
PIP_OPTIONS := -qq --disable-pip-version-check --no-input --constraint constraints.txt
NAMES ?=
EXAMPLES ?= 2000
TESTS ?=

.DEFAULT_GOAL := help
.PHONY: help demo test check fuzz golden docs new-importer bench performance wheel-check release-check oldest audit sbom coverage mutation \
	lock chromium engines clean
.DELETE_ON_ERROR:

help:  ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1: /p' $(firstword $(MAKEFILE_LIST)) | awk -F': ' '{printf "  make %-12s %s\n", $$1, $$2}'

demo: $(VENV)/.installed  ## install into .venv, analyse a sample log, say where the report is
	@$(BIN)/advisor demo --to demo
	@for page in demo/*.html; do test -e "$$page" && echo "Report: file://$(CURDIR)/$$page"; done

test: $(VENV)/.installed-dev chromium engines  ## install into .venv what the checks need, then check
	@$(MAKE) --no-print-directory check

check:  ## format, lint, types, layers and tests, with what is installed
	$(RUN)ruff format --check --quiet .
	$(RUN)ruff check --quiet .
	$(RUN)mypy
	$(RUN)pyright --pythonpath "$$(command -v $(RUN)python)"
	$(RUN)lint-imports --no-logo
	$(RUN)python -m pytest -q -n auto

fuzz:  ## damage the golden inputs: make fuzz EXAMPLES=5000
	FUZZ_EXAMPLES=$(EXAMPLES) $(RUN)python -m pytest -q tests/fuzz

golden:  ## write the golden files again and show what changed
	$(RUN)python -m pytest -q --update-golden
	@git --no-pager diff --stat -- tests/golden

docs:  ## write the generated pages of docs/ again
	@$(RUN)python tools/make_docs.py

new-importer:  ## the skeleton of a log format: make new-importer NAME=my-gateway
	@$(RUN)python tools/new_importer.py $(NAME)

bench: $(VENV)/.installed  ## measure beside the bare engine: make bench NAMES="startup chat"
	@$(BIN)/python benchmarks/bench.py $(NAMES)

performance: $(VENV)/.installed  ## run all benchmarks, 100 million rows among them, and write docs/performance.md
	@mkdir -p build/results
	@$(BIN)/python benchmarks/bench.py --json build/results/bench.json
	@$(BIN)/python benchmarks/peers.py --json build/results/peers.json
	@$(BIN)/python benchmarks/growth.py --json build/results/growth.json
	@$(BIN)/python benchmarks/page.py build/results/*.json

wheel-check: $(VENV)/.installed  ## build the wheel, install it alone, use it from another folder
	@rm -rf build/wheel && mkdir -p build/wheel/elsewhere
	@$(BIN)/python -m pip wheel $(PIP_OPTIONS) --no-deps --wheel-dir build/wheel .
	@$(BIN)/python -m zipfile -l build/wheel/*.whl > build/wheel/names
	@for wanted in advisor/templates/ pricing/ workloads/importers/ advisor/cli.py; do \
		grep -q "^$$wanted" build/wheel/names || { echo "wheel-check: $$wanted is not in the wheel" >&2; exit 1; }; done
	@! grep -E '^(templates|tests|docs|benchmarks|examples|tools)/' build/wheel/names \
		|| { echo "wheel-check: these do not belong into the wheel" >&2; exit 1; }
	@$(BIN)/python -m venv build/wheel/venv
	@build/wheel/venv/bin/pip install $(PIP_OPTIONS) build/wheel/*.whl
	@cd build/wheel/elsewhere && ../venv/bin/advisor --help > help.txt && ../venv/bin/advisor demo --to demo > demo.txt
	@echo "wheel-check: $$(ls build/wheel/*.whl) holds the templates and the prices, and works from another folder"

release-check:  ## build wheel and sdist twice, compare, install each alone, make every output elsewhere
	@$(PYTHON) tools/release_check.py --work build/release

oldest: $(VENV)/.python  ## run the tests with the oldest versions that pyproject.toml allows
	@rm -rf build/oldest && mkdir -p build && $(BIN)/python -m venv build/oldest
	@build/oldest/bin/pip install -qq --disable-pip-version-check --no-input --constraint constraints-oldest.txt --editable . \
		pytest pytest-xdist hypothesis jsonschema openpyxl coverage hatchling import-linter
	build/oldest/bin/python -m pytest -q -n auto -p no:cacheprovider $(TESTS)

audit: build/tools/.installed  ## ask for known vulnerabilities of what is pinned; what could not be looked up fails
	build/tools/bin/pip-audit --strict --no-deps --disable-pip --progress-spinner off -r constraints.txt

sbom: build/tools/.installed  ## the bill of materials of an installed wheel: build/sbom.json (CycloneDX)
	@rm -rf build/sbom && mkdir -p build/sbom && $(PYTHON) -m venv build/sbom/venv
	@build/sbom/venv/bin/pip install $(PIP_OPTIONS) .
	@build/sbom/venv/bin/pip uninstall -qq -y pip
	@build/tools/bin/cyclonedx-py environment --pyproject pyproject.toml --output-reproducible --of JSON \
		-o build/sbom.json build/sbom/venv
	@$(PYTHON) -c 'import json; found = json.load(open("build/sbom.json")); \
		print("build/sbom.json:", len(found["components"]), "components,", found["bomFormat"], found["specVersion"])'

coverage:  ## branch coverage of pricing and workloads, by the tests that mirror them
	$(RUN)python -m coverage erase
	$(RUN)python -m coverage run -m pytest -q $(or $(TESTS),tests)
	$(RUN)python -m coverage combine -q
	$(RUN)python -m coverage report

mutation:  ## change one thing at a time in pricing, and see whether its tests notice: make mutation SAMPLE=200
	$(RUN)python tools/mutate.py --sample $(or $(SAMPLE),200)

lock: $(VENV)/.python  ## pin the newest versions that pyproject.toml allows into constraints.txt
	@rm -rf build/lock && mkdir -p build && $(BIN)/python -m venv build/lock
	@build/lock/bin/pip install -qq --disable-pip-version-check --no-input '.[dev,postgres,spark]'
	@sed -n '/^#/p' constraints.txt > build/lock/pins
	@build/lock/bin/pip freeze --disable-pip-version-check --exclude token-cost-advisor | LC_ALL=C sort -f >> build/lock/pins
	@! grep -E '@|:/' build/lock/pins || { echo "lock: these are places, not versions" >&2; exit 1; }
	@cp build/lock/pins constraints.txt && git --no-pager diff --stat -- constraints.txt

clean:  ## remove everything that these targets made
	rm -rf $(VENV) build dist demo .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache *.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The browser tests want Debian's chromium and skip without it.
chromium:
	@if command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null; \
	then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		mkdir -p build; \
		{ apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium; } \
			> build/chromium.log 2>&1 < /dev/null \
			|| echo "chromium could not be installed (build/chromium.log); the browser tests are skipped"; \
	else echo "chromium is not here; the browser tests are skipped"; fi

# Other engines: a PostgreSQL server and Java from Debian, their drivers from pip. The tests of what is missing are skipped.
engines: $(VENV)/.installed-dev
	@if { ls /usr/lib/postgresql/*/bin/initdb || command -v initdb; } >/dev/null 2>&1 && command -v java >/dev/null; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		mkdir -p build; \
		{ apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
			postgresql default-jre-headless; } > build/engines.log 2>&1 < /dev/null \
			|| echo "PostgreSQL and Java could not be installed (build/engines.log); their tests are skipped"; \
	else echo "PostgreSQL or Java is not here; their tests are skipped"; fi
	@$(BIN)/python -c 'import psycopg, pyspark' 2>/dev/null || { mkdir -p build; \
		$(BIN)/pip install $(PIP_OPTIONS) --editable '.[postgres,spark]' > build/drivers.log 2>&1 \
			|| echo "the drivers could not be installed (build/drivers.log); their tests are skipped"; }

$(VENV)/.python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "Python 3.11 or newer is needed; $(PYTHON) is $$($(PYTHON) --version 2>&1). Try: make PYTHON=python3.12" >&2; \
		exit 1; }
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); \
		echo "$(PYTHON) cannot make a virtual environment; on Debian: apt-get install python3-venv" >&2; exit 1; }
	@touch $@

build/tools/.installed: pyproject.toml
	@rm -rf build/tools && mkdir -p build && $(PYTHON) -m venv build/tools
	@build/tools/bin/pip install -qq --disable-pip-version-check --no-input build cyclonedx-bom pip-audit
	@touch $@

$(VENV)/.installed: $(VENV)/.python pyproject.toml constraints.txt
	@echo "installing token-cost-advisor into $(VENV)"
	@$(BIN)/pip install $(PIP_OPTIONS) --editable .
	@touch $@

$(VENV)/.installed-dev: $(VENV)/.python pyproject.toml constraints.txt
	@echo "installing token-cost-advisor and what its checks need into $(VENV)"
	@$(BIN)/pip install $(PIP_OPTIONS) --editable '.[dev]'
	@touch $@ $(VENV)/.installed
