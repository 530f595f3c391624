#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Unpacks Debian packages for another architecture into a folder of their own, without root and without touching
# the system's own packages: the libraries for a static cyclops, with --llvm LLVM's, and with --vm what the virtual
# machine of tests/vm boots: a kernel, busybox and perf with its libraries.
#
# usage: sysroot.sh [--llvm] [--vm] ARCHITECTURE FOLDER    ARCHITECTURE as Debian says: arm64, armel
# FOLDER/versions has the packages: name, version, source, version of the source
set -e

libraries="libdw-dev libelf-dev libiberty-dev liblzma-dev libzstd-dev libjansson-dev zlib1g-dev libbz2-dev"
programs="busybox-static linux-perf"

while :; do
	case $1 in
	--llvm) libraries="$libraries llvm-19-dev"; with_llvm=-llvm; shift ;;
	--vm) with_vm=-vm; shift ;;
	*) break ;;
	esac
done
[ -n "$2" ] || { echo "usage: sysroot.sh [--llvm] [--vm] ARCHITECTURE FOLDER" >&2; exit 2; }
for tool in apt-get apt-cache dpkg-deb; do
	command -v "$tool" >/dev/null || { echo "sysroot.sh: $tool is needed (Debian, Ubuntu)" >&2; exit 1; }
done
mkdir -p "$2"
folder=$(cd "$2" && pwd)
wanted=$folder/.has-libraries$with_llvm$with_vm
[ -e "$wanted" ] || [ -e "$folder/.has-libraries$with_llvm-vm" ] && exit 0

state=$folder/.apt
mkdir -p "$state/lists/partial" "$state/cache/archives/partial" "$state/debs"
: >"$state/status"
apt="-qq -o APT::Architecture=$1 -o APT::Architectures=$1 -o Dir::State=$state
	-o Dir::State::Lists=$state/lists -o Dir::State::status=$state/status
	-o Dir::Cache=$state/cache -o Debug::NoLocking=1 -o APT::Sandbox::User= -o Acquire::Retries=3"
# shellcheck disable=SC2086 # options are words
get() { (cd "$state/debs" && apt-get $apt download "$@"); }
# shellcheck disable=SC2086
depends() { apt-cache $apt depends --recurse --no-recommends --no-suggests --no-conflicts \
	--no-breaks --no-replaces --no-enhances "$1" | grep '^[a-z]' | sort -u; }

echo "fetching $1 packages into $2"
doing="asking for the list of packages"
trap 'status=$?; [ $status = 0 ] || echo "sysroot.sh: ended with $status while $doing" >&2' EXIT
# shellcheck disable=SC2086
apt-get $apt update
doing="fetching the libraries"
# shellcheck disable=SC2086
get $libraries
if [ -n "$with_vm" ]; then
	doing="fetching the kernel and perf"
	# shellcheck disable=SC2086
	kernel=$(apt-cache $apt depends linux-image-arm64 | sed -n 's/.*Depends: \(linux-image-[0-9].*\)/\1/p')
	# shellcheck disable=SC2046,SC2086
	get "$kernel" $programs $(depends linux-perf | grep -E '^(lib|zlib)')
fi
for package in "$state"/debs/*.deb; do
	doing="unpacking $package"
	case $package in
	*/linux-image-*) dpkg-deb --fsys-tarfile "$package" | tar -x -C "$folder" ./boot ;;
	*) dpkg-deb -x "$package" "$folder" ;;
	esac
	# shellcheck disable=SC2016 # dpkg-deb's fields
	dpkg-deb -W --showformat '${Package} ${Version} ${source:Package} ${source:Version}\n' "$package"
done >"$folder/versions"
rm -rf "$state"
touch "$wanted"
