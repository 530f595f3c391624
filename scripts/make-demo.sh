#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes the program and the capture of tests/data anew: make-demo.sh [BUILD_DIR]
# The model gives the same bytes each time, wherever it runs.
set -eu

cd "$(dirname "$0")/.."
cyclops=$(realpath "${1:-build}/cyclops")
folder=tests/data/root/opt/demo

# The debug information must not have names of folders of this machine.
(cd $folder && aarch64-linux-gnu-gcc -O2 -g -Wall -Wextra -ffile-prefix-map="$PWD"=/opt/demo \
	-ffreestanding -fno-stack-protector -fno-tree-vectorize -fno-asynchronous-unwind-tables \
	-static -nostdlib -Wl,--build-id=sha1 -Wl,-z,noseparate-code -o demo demo.c)

# The environment is on the program's stack and would move its addresses, so it is empty.
env -i PATH=/usr/local/bin:/usr/bin:/bin "$cyclops" model --interval 2048 --root tests/data/root -o tests/data/demo.data -- $folder/demo
ls -l $folder/demo tests/data/demo.data
