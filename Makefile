# The front door. Every target first makes sure that what it needs is installed (tools/setup), then calls the
# tool that does the work; `make help` lists them. What is done already is not done again.
#
#   LOGDIR=path ARGS="..."   for make run: the log directory, more options for the command
#   FUZZ_SECONDS=60          for make fuzz: how long each target runs; FUZZ_MEMORY=1: with MSan instead of ASan and UBSan
#   SOAK_SECONDS=1800        for make soak: how long in all
#   SUITES="dev interop"     for make test: only these suites
#   BENCH_ARGS="..."         for make bench: see bench/run.py --help
#   PREFIX=/usr/local        for make install and make uninstall: where to, and DESTDIR=path for a copy of the tree

LOGDIR ?=
ARGS ?=
SUITES ?=
BENCH_ARGS ?=
FUZZ_SECONDS ?= 60
FUZZ_MEMORY ?=
SOAK_SECONDS ?= 1800
PREFIX ?= /usr/local
DESTDIR ?=

# $(call compile,preset,folder[,target]): configuring is quick and quiet, unless it fails
compile = mkdir -p $(2) && { cmake --preset $(1) >$(2)/configure.log 2>&1 || { cat $(2)/configure.log; exit 1; }; } \
    && cmake --build $(2) $(if $(3),--target $(3))

.DEFAULT_GOAL := build
.PHONY: build run install uninstall package wheel test bench soak fuzz format coverage clean help

build: ## build/seaboard, build/libseaboard.a and build/libseaboard.so
	@tools/setup build ui
	@$(call compile,release,build)

run: build ## build, then serve LOGDIR=path (without one: a demo that trains meanwhile); ARGS="--port 7007"
	@[ -n '$(LOGDIR)' ] || [ -e build/demo-logs/done ] || { tools/setup digits && rm -rf build/demo-logs \
	    && mkdir -p build/demo-logs \
	    && echo "Training a small network on digits in the background (LOGDIR=path shows your logs)" \
	    && { { build/seaboard-demo build/demo-logs/invented && build/examples/convnet build/demo-logs/digits \
	    && touch build/demo-logs/done; } >build/demo-training.txt 2>&1 & }; }
	@build/seaboard --logdir '$(or $(LOGDIR),build/demo-logs)' $(ARGS)

install: build ## command, library, headers, man pages, completions; PREFIX=/usr/local DESTDIR=
	@tools/install install '$(PREFIX)' '$(DESTDIR)'

uninstall: build ## removes what make install put there; the same PREFIX and DESTDIR
	@tools/install uninstall '$(PREFIX)' '$(DESTDIR)'

package: build ## build/packages: a .deb, and a tar file that needs nothing but the C library
	@tools/setup package
	@tools/package

wheel: ## build/wheels: one Python wheel for this and newer Pythons, with the command and the web app inside
	@tools/setup build ui wheel
	@$(call compile,release,build)
	@"$$(tools/setup wheel-path)/bin/python" tools/wheel

test: ## build and run every suite; the last line is the count
	@tools/setup test ui digits
	@tools/run_tests $(SUITES)

bench: ## ours beside the peers: a table of ratios, JSON in build/bench/
	@tools/setup bench python python-suite ui
	@$(call compile,bench,build/bench,bench_programs)
	@"$$(tools/setup python-path)/bin/python" bench/run.py $(BENCH_ARGS)

soak: build ## the server under load for SOAK_SECONDS; memory, descriptors and answers at the end as after a minute
	@tools/setup python
	@SEABOARD_BIN=build/seaboard SOAK_SECONDS=$(SOAK_SECONDS) "$$(tools/setup python-path)/bin/python" tests/soak/soak.py

fuzz: ## every fuzz target for FUZZ_SECONDS, those that ran least first; corpora and counts are kept in .fuzz/
	@tools/setup fuzz
	@$(call compile,$(if $(FUZZ_MEMORY),fuzz-memory,fuzz),build/$(if $(FUZZ_MEMORY),fuzz-memory,fuzz),fuzz_programs)
	@tools/run_fuzz --seconds $(FUZZ_SECONDS) $(if $(FUZZ_MEMORY),--memory)

format: ## lay out all C files as the house does
	@tools/setup format
	@tools/check_format --fix

coverage: ## lines and branches that the C tests reach: build/coverage/index.html
	@tools/setup coverage
	@$(call compile,coverage,build/coverage)
	@ctest --test-dir build/coverage --output-on-failure --exclude-regex '^checks/'
	@gcovr --root . --filter src/ --exclude-unreachable-branches --html-details build/coverage/index.html \
	    --print-summary build/coverage

clean: ## remove everything that was built; installed packages and the Python environment stay
	@rm -rf build

help: ## this list
	@sed -nE 's/^([a-z-]+):[^#]*## (.*)/  make \1\t\2/p' Makefile | expand -t 20
