#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Prints Meson's cross file for a static cyclops of another architecture, whose libraries sysroot.sh unpacked. Paths of
# sources are those in this tree, so that another folder gives the same bytes.
#
# usage: cross-file.sh aarch64|armv6 SYSROOT [LLVM-CONFIG]    LLVM-CONFIG: a program to make, which finds the sysroot's LLVM
set -e

case $1 in
aarch64) triplet=aarch64-linux-gnu family=aarch64 cpu=aarch64 emulator=qemu-aarch64 ;;
# the first Raspberry Pi's processor, with floating point in software
armv6) triplet=arm-linux-gnueabi family=arm cpu=armv6 emulator="qemu-arm', '-cpu', 'arm1176" ;;
*) echo "usage: cross-file.sh aarch64|armv6 SYSROOT [LLVM-CONFIG]" >&2; exit 2 ;;
esac
root=$(cd "$(dirname "$0")/.." && pwd)
sysroot=$(cd "$2" && pwd)
libraries=$sysroot/usr/lib/$triplet
if [ -n "$3" ]; then
	cat >"$3" <<-END
		#!/bin/sh
		llvm-config-19 "\$@" | sed "s,/usr/lib/llvm-19,$sysroot/usr/lib/llvm-19,g"
	END
	chmod +x "$3"
	llvm_line="llvm-config-19 = '$3'"
fi
# On 32 bits, sizes that were compared with those of files in memory are converted everywhere.
cat <<END
[binaries]
c = ['$triplet-gcc', '-B$libraries', '-L$libraries'$([ "$1" = armv6 ] && echo ", '-march=armv6', '-Wno-conversion'")]
ar = '$triplet-ar'
strip = '$triplet-strip'
pkgconfig = 'pkg-config'
exe_wrapper = ['$emulator', '-L', '/usr/$triplet']
$llvm_line
[host_machine]
system = 'linux'
cpu_family = '$family'
cpu = '$cpu'
endian = 'little'
[properties]
sys_root = '$sysroot'
pkg_config_libdir = '$libraries/pkgconfig'
objcopy = '$triplet-objcopy'
[built-in options]
c_args = ['-ffile-prefix-map=$root/=', '-isystem', '$sysroot/usr/include', '-isystem', '$sysroot/usr/include/$triplet']
END
