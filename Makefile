# The front door: every target calls CMake or a script in tools/, and decides nothing itself.

PREFIX ?= /usr/local
FUZZ_SECONDS ?= 60

.DEFAULT_GOAL := help
.PHONY: help demo build wheel test sanitize bench lint format fuzz install clean

help: ## Say what there is to make
	@tools/help $(MAKEFILE_LIST)

demo: build ## Build, then look into a real trace
	@tools/demo

build: ## Build the command, build/bin/telltale, the recorder and its example
	@tools/setup build
	@tools/build release installed inference_server

wheel: ## Build the Python package as a wheel that works on other machines, into dist/
	@tools/setup wheel
	@tools/wheel

test: ## Run every check there is
	@tools/setup test
	@tools/test

sanitize: ## Run the tests once more, under the address, undefined-behavior and thread sanitizers
	@tools/setup test
	@tools/sanitize

bench: ## Measure our speed and memory beside our peers'
	@tools/setup bench
	@bench/run
	@bench/recording/run
	@bench/torch/run
	@bench/page/run

lint: ## Check the formatting and run clang-tidy
	@tools/setup lint
	@tools/lint

format: ## Reformat all sources
	@tools/setup lint
	@tools/format

fuzz: ## Run each fuzz target for FUZZ_SECONDS (60)
	@tools/setup fuzz
	@tools/fuzz $(FUZZ_SECONDS)

install: build ## Install under PREFIX (/usr/local)
	@cmake --install build --prefix $(PREFIX)

clean: ## Remove everything that was built
	@cmake -E rm -rf build build-debug build-asan build-tsan build-fuzz build-bench build-wheel dist
