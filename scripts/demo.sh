#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Shows what cyclops says of a capture that comes with the sources, and that it is right: demo.sh [BUILD_DIR]
set -e
cyclops=$(realpath "${1:-build}/cyclops")
cd "$(dirname "$0")/.."

bold= plain=
if [ -t 1 ]; then
	bold=$(printf '\033[1m') plain=$(printf '\033[0m')
fi

say() { printf '\n%s\n' "$bold$*$plain"; }

# show ARGUMENTS...: a command of cyclops as readers type it, and its answer
show() {
	say "\$ build/cyclops $*"
	"$cyclops" "$@" --no-pager
}

samples=tests/data/samples
say "Two threads that share nothing but a cache line (kernels/sharing.c): what is it, and what would change it?"
show c2c --symfs tests/data/root $samples/sharing.data

say "Was that right? The same program with the padding (-DPADDED):"
show diff --symfs tests/data/root --table totals $samples/sharing.data $samples/padded.data

say "Next: build/cyclops run -- ./your-program    docs/gallery.md    docs/tutorial.md"
