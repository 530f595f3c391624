#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Cross-builds cyclops for AArch64 as a static file that runs on any arm64 Linux.
# The libraries come from Debian's arm64 packages (arm64-sysroot.sh), into CYCLOPS_SYSROOT or
# beside the build.
#
# usage: build-arm64.sh [--vm] [BUILD]    BUILD: build-arm64; --vm: also what tests/vm boots
set -e

cd "$(dirname "$0")/.."
[ "$1" = --vm ] && { vm=--vm; shift; }
build=${1:-build-arm64}
sysroot=${CYCLOPS_SYSROOT:-$build-sysroot}
scripts/arm64-sysroot.sh $vm "$sysroot"
sysroot=$(cd "$sysroot" && pwd)
libraries=$sysroot/usr/lib/aarch64-linux-gnu
mkdir -p "$build"
cat >"$build/cross.ini" <<END
[binaries]
c = ['aarch64-linux-gnu-gcc', '-B$libraries', '-L$libraries']
ar = 'aarch64-linux-gnu-ar'
strip = 'aarch64-linux-gnu-strip'
pkgconfig = 'pkg-config'
exe_wrapper = ['qemu-aarch64']
[host_machine]
system = 'linux'
cpu_family = 'aarch64'
cpu = 'aarch64'
endian = 'little'
[properties]
sys_root = '$sysroot'
pkg_config_libdir = '$libraries/pkgconfig'
objcopy = 'aarch64-linux-gnu-objcopy'
[built-in options]
c_args = ['-isystem', '$sysroot/usr/include', '-isystem', '$sysroot/usr/include/aarch64-linux-gnu']
c_link_args = ['-static']
END
[ -e "$build/build.ninja" ] || meson setup "$build" --cross-file "$build/cross.ini" \
	-Dtests=disabled -Ddisassembler=disabled -Dzydis=disabled -Dprefer_static=true -Dbuildtype=release >/dev/null
# the model's plugin is not built: it runs on the machine with qemu, not on the target
ninja -C "$build" --quiet cyclops ${vm:+tests/vm/measure-program}
