# SPDX-License-Identifier: Apache-2.0
# The front door. Meson and Ninja do the work (meson.build); this names what people do.

BUILD ?= build
PREFIX ?= /usr/local
# What is installed; TARGETS=all has tests and benches, too.
TARGETS ?= installed

all: $(BUILD)/build.ninja
	@ninja -C $(BUILD) $(if $(QUIET),--quiet) $(TARGETS)

$(BUILD)/build.ninja:
	@meson setup $(BUILD) --prefix=$(PREFIX) $(if $(QUIET),>/dev/null)

# Installs what is missing on Debian 12, builds, and shows one page.
demo:
	@scripts/install-packages.sh build
	@echo "building (half a minute on two cores)"
	@$(MAKE) --no-print-directory all QUIET=1 TARGETS="cyclops model/cyclops-model.so"
	@scripts/demo.sh $(BUILD)

# Installs what the tests need, builds with warnings as errors, runs everything.
test:
	@scripts/install-packages.sh build test
	@python3 scripts/run-tests.py

# What takes less than a minute: the unit tests, and each command once.
check:
	@scripts/install-packages.sh build check
	@$(MAKE) --no-print-directory all QUIET=1
	@python3 scripts/run-tests.py --check $(BUILD)

# What takes long: many seeds, long fuzzing, newer peers. SOAK="--scale 0.1" and more: scripts/soak.py --help.
soak:
	@scripts/install-packages.sh build test soak dist
	@python3 scripts/soak.py $(SOAK)

# Compares with the peers, side by side in one run. BENCH="--size 4G" and more: bench/run.py --help.
bench:
	@scripts/install-packages.sh build bench
	@$(MAKE) --no-print-directory all TARGETS=all
	@python3 bench/run.py --build $(BUILD) $(BENCH)

# What users install, in dist/: a static program as a tarball, packages and an image. ARCH="x86_64 aarch64" and more: scripts/dist.sh.
dist:
	@scripts/install-packages.sh build dist
	@scripts/dist.sh $(ARCH)

# Fuzzes every target for SECONDS (default 60) each.
fuzz:
	@scripts/install-packages.sh build test
	@scripts/fuzz.sh $(SECONDS)

install: all
	meson install -C $(BUILD) --no-rebuild

format:
	clang-format -i $$(git ls-files '*.c' '*.h')

clean:
	rm -rf $(BUILD) build-* dist

.PHONY: all demo check test soak bench dist fuzz install format clean
