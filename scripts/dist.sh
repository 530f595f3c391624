#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds what users install: a static program, as a tarball, as packages for Debian and for RPM, as an image for
# containers, and its debug information. The same commit gives the same bytes, in any folder.
#
# usage: dist.sh [--into FOLDER] [--from BUILD] [--level N] [ARCHITECTURE]...
#     ARCHITECTURE: x86_64 or amd64, aarch64 or arm64, armv6 (32 bits, floating point in software: a tarball only); this machine's
#     --into: instead of dist/; --from: what to pack, instead of a static build, without its debug information;
#     --level: of compression
# makes cyclops-VERSION-ARCHITECTURE.tar.xz, ….oci.tar, …-debug.tar.xz, …-relink.tar.xz, .deb, .rpm, SHA256SUMS
set -e

cd "$(dirname "$0")/.."
root=$PWD
export LC_ALL=C TZ=UTC SOURCE_DATE_EPOCH LEVEL=6 VERSION
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
VERSION=$(sed -n "s/^  version: '\(.*\)',/\1/p" meson.build)
umask 022

out=dist work=build-dist parts=$root/build-dist
while [ $# -gt 0 ]; do
	case $1 in
	--into) out=$2 work=$2/work; shift 2 ;;
	--from) from=$2; shift 2 ;;
	--level) LEVEL=$2; shift 2 ;;
	*) break ;;
	esac
done
[ $# -gt 0 ] || set -- "$(uname -m)"
for tool in git tar xz dpkg-deb rpmbuild umoci; do
	command -v $tool >/dev/null || { echo "dist.sh: $tool is needed (scripts/install-packages.sh dist)" >&2; exit 1; }
done

# Sets architecture, debian (the name there), prefix (of the cross compiler's programs, if one is needed) and sysroot.
choose() {
	case $1 in
	x86_64 | amd64) architecture=x86_64 debian=amd64 prefix=x86_64-linux-gnu- ;;
	aarch64 | arm64) architecture=aarch64 debian=arm64 prefix=aarch64-linux-gnu- ;;
	armv6) architecture=armv6 debian=armel prefix=arm-linux-gnueabi- ;;
	*) echo "dist.sh: cannot build for '$1': x86_64, aarch64, armv6" >&2; exit 2 ;;
	esac
	sysroot=$parts/sysroot-$debian
	if [ "$architecture" = "$(uname -m)" ] || [ -n "$from" ]; then
		prefix='' sysroot=''
	elif [ $architecture = x86_64 ]; then
		echo "dist.sh: x86_64 is built on such a machine only" >&2
		exit 2
	fi
}

# usage: build FOLDER    paths in it are those of the sources alone
build() {
	mkdir -p "$parts"
	scripts/static-zydis.sh "$parts/zydis-$architecture" "$prefix"
	set -- "$1" --prefix=/usr --libdir=lib -Dtests=disabled -Dstatic=true -Dprefer_static=true \
		-Dzydis_folder="$parts/zydis-$architecture"
	targets="cyclops model/cyclops-model.so"
	if [ -z "$sysroot" ]; then
		set -- "$@" "-Dc_args=-ffile-prefix-map=$root/="
		[ $architecture = aarch64 ] || targets="$targets src/kernel/runner/cyclops-kernel-aarch64"
	elif [ $architecture = armv6 ]; then
		scripts/sysroot.sh $debian "$sysroot"
		[ -e "$1/build.ninja" ] || scripts/cross-file.sh $architecture "$sysroot" >"$parts/$architecture.ini"
		set -- "$@" --cross-file "$parts/$architecture.ini" -Ddisassembler=disabled
		targets=cyclops
	else
		scripts/sysroot.sh --llvm $debian "$sysroot"
		[ -e "$1/build.ninja" ] ||
			scripts/cross-file.sh $architecture "$sysroot" "$parts/llvm-config-$debian" >"$parts/$architecture.ini"
		set -- "$@" --cross-file "$parts/$architecture.ini"
	fi
	[ -e "$1/build.ninja" ] || meson setup "$@" >/dev/null
	# shellcheck disable=SC2086 # targets are words
	ninja -C "$1" --quiet $targets
}

# usage: stage BUILD TREE    the tree below /usr
stage() {
	rm -rf "$2"
	mkdir -p "$2/bin" "$2/lib/cyclops" "$2/share/man/man1" "$2/share/doc/cyclops" "$2/share/cyclops/samples"
	install -m 755 "$1/cyclops" "$2/bin/cyclops"
	"${prefix}strip" "$2/bin/cyclops" # its build-id names the debug information
	for file in model/cyclops-model.so src/kernel/runner/cyclops-kernel-aarch64; do
		[ ! -e "$1/$file" ] || install -m 755 "$1/$file" "$2/lib/cyclops/"
	done
	[ $architecture = armv6 ] || "${prefix}strip" --strip-debug "$2/lib/cyclops/cyclops-model.so"
	install -m 644 docs/man/*.1 "$2/share/man/man1"
	install -D -m 644 completions/cyclops.bash "$2/share/bash-completion/completions/cyclops"
	install -D -m 644 completions/cyclops.zsh "$2/share/zsh/site-functions/_cyclops"
	install -D -m 644 completions/cyclops.fish "$2/share/fish/vendor_completions.d/cyclops.fish"
	cp -r share/cyclops/sql share/cyclops/sysctl.d "$2/share/cyclops"
	cp -rL tests/data/samples/*.data tests/data/root "$2/share/cyclops/samples"
	cp -r README.md CHANGELOG.md LICENSE docs/schema docs/tutorial.md docs/gallery.md "$2/share/doc/cyclops"
	scripts/dist/notices.sh $architecture "$parts/zydis-$architecture" $sysroot >"$2/share/doc/cyclops/THIRD-PARTY"
	find "$2" -name meson.build -delete
	find "$2" -type d -empty -delete
	find "$2" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
}

# usage: pack FOLDER NAME    FOLDER becomes NAME.tar.xz, with NAME as its only entry
pack() {
	tar -C "$1" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" --format=gnu \
		--transform="s,^\.,$2," -cf - . | xz -T1 "-$LEVEL" >"$out/$2.tar.xz"
}

mkdir -p "$out" "$work"
out=$(cd "$out" && pwd) work=$(cd "$work" && pwd)
for wanted in "$@"; do
	choose "$wanted"
	build=${from:-$parts/$architecture} # names of sources have as many folders in them, wherever the files go
	[ -n "$from" ] || build "$build"
	name=cyclops-$VERSION-$architecture
	tree=$work/tree-$architecture
	stage "$build" "$tree"
	pack "$tree" "$name"
	if [ $architecture != armv6 ]; then
		scripts/dist/deb.sh "$tree" $debian "$work/deb" "$out"
		scripts/dist/rpm.sh "$tree" $architecture "$work/rpm" "$out"
		scripts/dist/oci.sh "$tree" $debian "$work/oci" "$out/$name.oci.tar"
	fi
	[ -z "$from" ] || continue
	rm -rf "$work/debug"
	mkdir -p "$work/debug"
	"${prefix}objcopy" --only-keep-debug "$build/cyclops" "$work/debug/cyclops.debug"
	pack "$work/debug" "$name-debug"
	scripts/dist/relink.sh "$build" "$prefix" "$work/relink"
	pack "$work/relink" "$name-relink"
done
(cd "$out" && sha256sum -- *.tar.xz *.oci.tar *.deb *.rpm >SHA256SUMS && cat SHA256SUMS)
