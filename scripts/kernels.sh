#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Fetches Debian's arm64 kernels of several releases, without root, for the machine of tests/vm: Debian 11 has 5.10, 12
# has 6.1, 13 has 6.12.
#
# usage: kernels.sh FOLDER [RELEASE]...
# makes FOLDER/RELEASE/boot/vmlinuz-…
set -e

[ -n "$1" ] || { echo "usage: kernels.sh FOLDER [RELEASE]..." >&2; exit 2; }
mkdir -p "$1"
folder=$(cd "$1" && pwd)
shift
[ $# -gt 0 ] || set -- bullseye bookworm trixie
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
# shellcheck disable=SC2016 # apt's fields
mirror=$(apt-get indextargets --format '$(REPO_URI)' "Created-By: Packages" "Origin: Debian" "Label: Debian" | head -n 1)
for release in "$@"; do
	[ -e "$folder/$release/boot" ] && continue
	state=$folder/.apt-$release
	mkdir -p "$state/lists/partial" "$state/cache/archives/partial" "$state/debs" "$folder/$release"
	: >"$state/status"
	echo "deb [signed-by=$keyring] $mirror $release main" >"$state/sources.list"
	apt="-qq -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o Dir::State=$state
		-o Dir::State::Lists=$state/lists -o Dir::State::status=$state/status -o Dir::Cache=$state/cache
		-o Dir::Etc::sourcelist=$state/sources.list -o Dir::Etc::sourceparts=- -o Debug::NoLocking=1 -o APT::Sandbox::User="
	# shellcheck disable=SC2086 # options are words
	apt-get $apt update
	# shellcheck disable=SC2086
	kernel=$(apt-cache $apt depends linux-image-arm64 | sed -n 's/.*Depends: \(linux-image-[0-9].*\)/\1/p')
	# shellcheck disable=SC2086
	(cd "$state/debs" && apt-get $apt download "$kernel")
	dpkg-deb --fsys-tarfile "$state/debs"/*.deb | tar -x -C "$folder/$release" ./boot
	rm -rf "$state"
	echo "$release: $kernel"
done
