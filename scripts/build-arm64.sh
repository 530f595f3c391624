#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Cross-builds cyclops for AArch64 as a static file that runs on any arm64 Linux, without LLVM and Zydis: what the tests
# on the emulated machine run: compiled soon, without the viewer. Users get that of dist.sh.
# The libraries come from Debian's arm64 packages (sysroot.sh), into CYCLOPS_SYSROOT or beside the build.
#
# usage: build-arm64.sh [--vm] [BUILD]    BUILD: build-arm64; --vm: also what tests/vm boots
set -e

cd "$(dirname "$0")/.."
[ "$1" = --vm ] && { vm=--vm; shift; }
build=${1:-build-arm64}
sysroot=${CYCLOPS_SYSROOT:-$build-sysroot}
scripts/sysroot.sh $vm arm64 "$sysroot"
mkdir -p "$build"
scripts/cross-file.sh aarch64 "$sysroot" >"$build/cross.ini"
[ -e "$build/build.ninja" ] || meson setup "$build" --cross-file "$build/cross.ini" -Dc_link_args=-static \
	-Dtests=disabled -Ddisassembler=disabled -Dzydis=disabled -Dprefer_static=true -Dhtml=disabled \
	-Dbuildtype=plain -Doptimization=1 >/dev/null
# the model's plugin is not built: it runs on the machine with qemu, not on the target
ninja -C "$build" --quiet cyclops ${vm:+tests/vm/measure-program}
