#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs the missing Debian packages of the given groups (build, check, test, soak, bench, dist).
set -e

build="gcc make git python3 meson ninja-build pkg-config mandoc libdw-dev libelf-dev libiberty-dev
	liblzma-dev libzstd-dev libjansson-dev zlib1g-dev libstdc++-12-dev libzydis-dev llvm-19-dev"
check="libcmocka-dev"
test="$check clang clang-format lld libclang-rt-14-dev linux-perf binutils gdb
	gcc-aarch64-linux-gnu g++-aarch64-linux-gnu libc6-dev-arm64-cross binutils-aarch64-linux-gnu qemu-user
	g++ gfortran rustc
	qemu-system-arm openjdk-17-jdk-headless python3-jsonschema chromium-headless-shell rpm umoci strace"
# The viewer of --html; another npm does as well.
command -v npm >/dev/null || test="$test nodejs npm"
soak="debootstrap mmdebstrap buildah gcc-arm-linux-gnueabihf libc6-dev-armhf-cross bolt-19 clang-19 lld-19 llvm-19
	libdevel-nytprof-perl valgrind"
# go tool pprof reads profiles; another go does as well.
command -v go >/dev/null || soak="$soak golang-go"
# What the static program is made of, and the tools that pack it; another cargo does as well.
dist="binutils xz-utils dpkg-dev rpm umoci libbz2-dev gcc-aarch64-linux-gnu libc6-dev-arm64-cross libstdc++-12-dev-arm64-cross
	gcc-arm-linux-gnueabi libc6-dev-armel-cross qemu-user"
command -v cargo >/dev/null || dist="$dist cargo"
command -v npm >/dev/null || dist="$dist nodejs npm"
bench="linux-perf hyperfine debootstrap g++ gcc-aarch64-linux-gnu g++-aarch64-linux-gnu libc6-dev-arm64-cross"

for group in "$@"; do
	eval "wanted=\"\$wanted \$$group\""
done
for package in $wanted; do
	dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' ||
		missing="$missing $package"
done
[ -z "$missing" ] && exit 0

if ! command -v apt-get >/dev/null; then
	echo "these packages are needed (Debian names):$missing" >&2
	exit 1
fi
echo "installing:$missing"
[ "$(id -u)" = 0 ] || sudo=sudo
$sudo apt-get update -qq
DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq --no-install-recommends $missing >/dev/null
