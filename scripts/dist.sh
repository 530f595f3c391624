#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds what users install: a static program, in a tarball and in a Debian package, and its debug information.
# The same commit gives the same bytes.
#
# usage: dist.sh [--into FOLDER] [--from BUILD] [--level N] [ARCHITECTURE]...
#     ARCHITECTURE: x86_64
#     --into: instead of dist/; --from: what to pack, instead of a static build, without its debug information;
#     --level: of compression
# makes cyclops-VERSION-ARCHITECTURE.tar.xz, …-debug.tar.xz, cyclops_VERSION_….deb, SHA256SUMS
set -e

cd "$(dirname "$0")/.."
root=$PWD
export LC_ALL=C TZ=UTC SOURCE_DATE_EPOCH DPKG_DEB_THREADS_MAX=1
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
umask 022

out=dist work=build-dist level=6
while [ $# -gt 0 ]; do
	case $1 in
	--into) out=$2 work=$2/work; shift 2 ;;
	--from) from=$2; shift 2 ;;
	--level) level=$2; shift 2 ;;
	*) break ;;
	esac
done
[ $# -gt 0 ] || set -- x86_64
for tool in git objcopy strip tar xz dpkg-deb; do
	command -v $tool >/dev/null || { echo "dist.sh: $tool is needed" >&2; exit 1; }
done
version=$(sed -n "s/^  version: '\(.*\)',/\1/p" meson.build)

# Debian packages whose libraries are a part of the static program.
linked="libc6-dev libstdc++-12-dev libdw-dev libelf-dev libiberty-dev liblzma-dev libzstd-dev libjansson-dev zlib1g-dev
	libbz2-dev llvm-19-dev"

# With paths of the sources alone, so that another folder gives the same bytes.
build_x86_64() {
	scripts/static-zydis.sh "$work/zydis-x86_64"
	[ -e "$1/build.ninja" ] || meson setup "$1" --prefix=/usr --libdir=lib -Dtests=disabled -Dstatic=true \
		-Dprefer_static=true -Dzydis_folder="$work/zydis-x86_64" \
		-Dc_args="-ffile-prefix-map=$root/=" >/dev/null
	ninja -C "$1" --quiet cyclops model/cyclops-model.so src/kernel/runner/cyclops-kernel-aarch64
}

# What the licences of the parts ask to be said.
write_notices() {
	cat <<-END
		cyclops is under the Apache License 2.0 (LICENSE). This file contains other programs' libraries, linked
		statically; their licences follow.

		glibc is under the LGPL 2.1 or later, elfutils (libdw, libelf) under the LGPL 3 or later or the GPL 2 or later,
		libiberty in parts under the LGPL 2.1 or later. You may change them and link cyclops with yours: its sources are
		those of commit $(git rev-parse HEAD), and scripts/dist.sh links them with the libraries that are installed. The
		sources of the libraries are those of the Debian packages of the versions below (apt-get source).
	END
	for package in $linked; do
		printf '\n==== %s %s (source %s)\n\n' "$package" "$(dpkg-query -W -f '${Version}' "$package")" \
			"$(dpkg-query -W -f '${source:Package} ${source:Version}' "$package")"
		cat "/usr/share/doc/$package/copyright"
	done
	printf '\n==== Zydis and Zycore\n\n'
	if [ -e "$work/zydis-$1/licence" ]; then
		cat "$work/zydis-$1/licence"
	else
		cat /usr/share/doc/libzydis-dev/copyright
	fi
}

# usage: stage BUILD ARCHITECTURE TREE    the tree below /usr
stage() {
	rm -rf "$3"
	mkdir -p "$3/bin" "$3/lib/cyclops" "$3/share/man/man1" "$3/share/doc/cyclops" "$3/share/cyclops"
	install -m 755 "$1/cyclops" "$3/bin/cyclops"
	strip "$3/bin/cyclops" # its build-id names the debug information
	for plugin in model/cyclops-model.so src/kernel/runner/cyclops-kernel-aarch64; do
		[ -e "$1/$plugin" ] && install -m 755 "$1/$plugin" "$3/lib/cyclops/"
	done
	strip --strip-debug "$3/lib/cyclops/cyclops-model.so"
	install -m 644 docs/man/*.1 "$3/share/man/man1"
	install -D -m 644 completions/cyclops.bash "$3/share/bash-completion/completions/cyclops"
	install -D -m 644 completions/cyclops.zsh "$3/share/zsh/site-functions/_cyclops"
	install -D -m 644 completions/cyclops.fish "$3/share/fish/vendor_completions.d/cyclops.fish"
	cp -r share/cyclops/sql share/cyclops/sysctl.d "$3/share/cyclops"
	mkdir -p "$3/share/cyclops/samples"
	cp -r tests/data/samples/*.data tests/data/root "$3/share/cyclops/samples"
	cp -r README.md CHANGELOG.md LICENSE docs/schema docs/tutorial.md docs/gallery.md "$3/share/doc/cyclops"
	write_notices "$2" >"$3/share/doc/cyclops/THIRD-PARTY"
	find "$3" -name meson.build -delete
	find "$3" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
}

# usage: pack FOLDER NAME    FOLDER becomes NAME.tar.xz, with NAME as its only entry
pack() {
	tar -C "$1" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" --format=gnu \
		--transform="s,^\.,$2," -cf - . | xz -T1 "-$level" >"$out/$2.tar.xz"
}

# usage: package TREE ARCHITECTURE-OF-DEBIAN
package() {
	deb=$work/deb-$2
	rm -rf "$deb"
	mkdir -p "$deb/DEBIAN"
	cp -a "$1" "$deb/usr"
	gzip -9 -n "$deb/usr/share/man/man1"/*.1
	cp LICENSE "$deb/usr/share/doc/cyclops/copyright"
	(cd "$deb" && find usr -type f | sort | xargs md5sum) >"$deb/DEBIAN/md5sums"
	cat >"$deb/DEBIAN/control" <<-END
		Package: cyclops
		Version: $version
		Architecture: $2
		Maintainer: The cyclops developers <nobody@cyclops.invalid>
		Section: devel
		Priority: optional
		Installed-Size: $(du -sk --apparent-size "$deb/usr" | cut -f 1)
		Recommends: qemu-user
		Suggests: debuginfod, linux-perf
		Description: hardware performance analysis: SPE, PMU, top-down, c2c
		 Answers where the cycles of a program go, in which instruction, on which data, and what would
		 change it: from perf.data captures of any machine, and of programs that it counts and records.
		 .
		 The program is static and needs no other package. qemu-user is for modelled runs; debuginfod has
		 debuginfod-find, for symbols of servers.
	END
	find "$deb" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
	dpkg-deb --root-owner-group -Zxz "-z$level" --build "$deb" "$out/cyclops_${version}_$2.deb" >/dev/null
}

mkdir -p "$out" "$work"
out=$(cd "$out" && pwd) work=$(cd "$work" && pwd)
for architecture in "$@"; do
	case $architecture in
	x86_64) debian=amd64 ;;
	*) echo "dist.sh: cannot build for $architecture yet: x86_64 only" >&2; exit 2 ;;
	esac
	build=${from:-$work/$architecture}
	[ -n "$from" ] || "build_$architecture" "$build"
	name=cyclops-$version-$architecture
	stage "$build" "$architecture" "$work/tree-$architecture"
	pack "$work/tree-$architecture" "$name"
	package "$work/tree-$architecture" "$debian"
	[ -n "$from" ] && continue
	rm -rf "$work/debug"
	mkdir -p "$work/debug"
	objcopy --only-keep-debug "$build/cyclops" "$work/debug/cyclops.debug"
	pack "$work/debug" "$name-debug"
done
(cd "$out" && sha256sum -- *.tar.xz *.deb >SHA256SUMS && cat SHA256SUMS)
