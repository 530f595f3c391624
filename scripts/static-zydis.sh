#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds Zydis and Zycore as static libraries, which Debian has not. Their sources are those that the
# crate zydis carries; cargo fetches it and checks its sum.
#
# usage: static-zydis.sh FOLDER [PREFIX]
# makes FOLDER/include, FOLDER/lib/libZydis.a, FOLDER/lib/libZycore.a, FOLDER/licence; PREFIX is that of the
# cross compiler's programs, such as aarch64-linux-gnu-
set -e

version=4.1.1

[ -n "$1" ] || { echo "usage: static-zydis.sh FOLDER [PREFIX]" >&2; exit 2; }
mkdir -p "$1"
folder=$(cd "$1" && pwd)
prefix=$2
[ -e "$folder/lib/libZydis.a" ] && exit 0
for tool in cargo "${prefix}gcc" "${prefix}ar"; do
	command -v "$tool" >/dev/null || { echo "static-zydis.sh: $tool is needed" >&2; exit 1; }
done

fetch=$folder/fetch
mkdir -p "$fetch/src"
: >"$fetch/src/lib.rs"
cat >"$fetch/Cargo.toml" <<END
[package]
name = "fetch"
version = "0.0.0"
edition = "2021"
[dependencies]
zydis = { version = "=$version", default-features = false }
END
(cd "$fetch" && cargo vendor --quiet vendor >/dev/null)
zydis=$fetch/vendor/zydis/zydis-c
zycore=$zydis/dependencies/zycore

mkdir -p "$folder/lib" "$folder/objects"
cp -r "$zydis/include" "$zycore/include" "$folder"
cp "$zydis/LICENSE" "$folder/licence"
cd "$fetch/vendor/zydis/zydis-c"
for library in Zycore Zydis; do
	objects=
	for source in $([ $library = Zydis ] && echo src/*.c || echo dependencies/zycore/src/*.c); do
		object=$folder/objects/$library-$(basename "$source" .c).o
		"${prefix}gcc" -O2 -g -fPIC "-ffile-prefix-map=$fetch/vendor=." "-ffile-prefix-map=$folder=." -DZYDIS_STATIC_BUILD -DZYCORE_STATIC_BUILD \
			-I"$folder/include" -Isrc -c "$source" -o "$object"
		objects="$objects $object"
	done
	# shellcheck disable=SC2086 # names without blanks
	"${prefix}ar" rcsD "$folder/lib/lib$library.a.new" $objects
	mv "$folder/lib/lib$library.a.new" "$folder/lib/lib$library.a"
done
rm -rf "$fetch" "$folder/objects"
