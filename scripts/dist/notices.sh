#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Prints what the licences of the libraries in the static program ask to be said.
#
# usage: notices.sh ARCHITECTURE ZYDIS [SYSROOT]    ZYDIS: the folder of static-zydis.sh, or none
set -e

architecture=$1 zydis=$2 sysroot=$3

# Debian packages whose libraries are a part of the program.
linked="libdw-dev libelf-dev libiberty-dev liblzma-dev libzstd-dev libjansson-dev zlib1g-dev libbz2-dev"
case $architecture${sysroot:+-cross} in
aarch64-cross) system="libc6-dev-arm64-cross libstdc++-12-dev-arm64-cross" linked="$linked llvm-19-dev" ;;
armv6-cross) system=libc6-dev-armel-cross ;;
*) system="libc6-dev libstdc++-12-dev" linked="$linked llvm-19-dev" ;;
esac

cat <<END
cyclops is under the Apache License 2.0 (LICENSE). This file contains other programs' libraries, linked
statically; their licences follow.

glibc is under the LGPL 2.1 or later, elfutils (libdw, libelf) under the LGPL 3 or later or the GPL 2 or later,
libiberty in parts under the LGPL 2.1 or later. You may change them and link cyclops with yours: beside this
package there is cyclops-$VERSION-$architecture-relink.tar.xz, which has the rest of the program as one object, and
the command that links it. Its sources are those of commit $(git rev-parse HEAD); make dist builds them.
The sources of the libraries are those of the Debian packages of the versions below (apt-get source).
END
# usage: say PACKAGE VERSION SOURCE SOURCE-VERSION
say() {
	printf '\n==== %s %s (source %s %s)\n\n' "$@"
	cat "/usr/share/doc/$1/copyright"
}
for package in $system; do
	# shellcheck disable=SC2016,SC2046 # dpkg-query's fields, four words
	say $(dpkg-query -W -f '${Package} ${Version} ${source:Package} ${source:Version}' "$package")
done
for package in $linked; do
	if [ -n "$sysroot" ]; then
		# shellcheck disable=SC2046 # four words
		say $(grep "^$package " "$sysroot/versions")
	else
		# shellcheck disable=SC2016,SC2046
		say $(dpkg-query -W -f '${Package} ${Version} ${source:Package} ${source:Version}\n' "$package" | head -n 1)
	fi
done
printf '\n==== Zydis and Zycore\n\n'
if [ -e "$zydis/licence" ]; then
	cat "$zydis/licence"
else
	cat /usr/share/doc/libzydis-dev/copyright
fi
