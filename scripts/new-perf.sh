#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs a newer perf, to compare with: that of Debian's backports for the next release,
# in a root of its own. The system is not changed; packages come from its own sources.
# Needs root and debootstrap.
#
# usage: new-perf.sh FOLDER     prints the folder to put first into PATH
set -e

release=trixie
keyring=/usr/share/keyrings/debian-archive-keyring.gpg

[ -n "$1" ] || { echo "usage: new-perf.sh FOLDER" >&2; exit 2; }
mkdir -p "$1"
folder=$(cd "$1" && pwd)
root=$folder/root
libraries=$root/usr/lib/$(uname -m)-linux-gnu

if [ ! -x "$folder/bin/perf" ]; then
	[ "$(id -u)" = 0 ] || { echo "new-perf.sh: only root can make a root" >&2; exit 1; }
	for tool in debootstrap chroot apt-get; do
		command -v $tool >/dev/null || { echo "new-perf.sh: $tool is needed" >&2; exit 1; }
	done
	mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' \
		'Label: Debian' | head -n 1)
	[ -n "$mirror" ] || { echo "new-perf.sh: this system has no sources of Debian" >&2; exit 1; }
	rm -rf "$root"
	{
		debootstrap --variant=minbase --keyring=$keyring $release "$root" "$mirror"
		echo "deb $mirror $release-backports main" >"$root/etc/apt/sources.list.d/backports.list"
		chroot "$root" sh -c "apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get install -qq \
			--no-install-recommends -t $release-backports linux-perf"
	} >"$folder/log" 2>&1 || { echo "new-perf.sh: failed: $folder/log" >&2; exit 1; }
	mkdir -p "$folder/bin"
	# with its own loader and libraries, but this system's files
	loader=$(ls "$libraries"/ld-linux-*.so.*)
	cat >"$folder/bin/perf.new" <<-END
		#!/bin/sh
		exec "$loader" --library-path "$libraries" --argv0 perf "$root/usr/bin/perf" "\$@"
	END
	chmod +x "$folder/bin/perf.new"
	"$folder/bin/perf.new" --version >&2
	mv "$folder/bin/perf.new" "$folder/bin/perf"
fi
echo "$folder/bin"
