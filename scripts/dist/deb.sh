#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes Debian packages: cyclops, and cyclops-sysctl and cyclops-perfmon, which let more people measure.
#
# usage: deb.sh TREE ARCHITECTURE WORK OUT    TREE is what is below /usr; VERSION, LEVEL, SOURCE_DATE_EPOCH are set
set -e

tree=$1 architecture=$2 work=$3 out=$4
export DPKG_DEB_THREADS_MAX=1

# usage: package NAME ARCHITECTURE    $work/NAME has its files; the rest of control comes from standard input
package() {
	root=$work/$1
	mkdir -p "$root/DEBIAN"
	(cd "$root" && find . -path ./DEBIAN -prune -o -type f -printf '%P\n' | sort | xargs -r md5sum) >"$root/DEBIAN/md5sums"
	{
		cat <<-END
			Package: $1
			Version: $VERSION
			Architecture: $2
			Maintainer: The cyclops developers <nobody@cyclops.invalid>
			Section: devel
			Priority: optional
			Installed-Size: $(find "$root" -type f -printf "%s\n" | awk '{ n += $1 } END { print int(n / 1024) + 1 }')
		END
		cat
	} >"$root/DEBIAN/control"
	find "$root" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
	dpkg-deb --root-owner-group -Zxz "-z$LEVEL" --build "$root" "$out/$1_${VERSION}_$2.deb" >/dev/null
}

rm -rf "$work"
mkdir -p "$work/cyclops"
cp -a "$tree" "$work/cyclops/usr"
gzip -9 -n "$work/cyclops/usr/share/man/man1"/*.1
cp LICENSE "$work/cyclops/usr/share/doc/cyclops/copyright"
package cyclops "$architecture" <<END
Recommends: qemu-user
Suggests: debuginfod, linux-perf, cyclops-sysctl, cyclops-perfmon
Description: hardware performance analysis: SPE, PMU, top-down, c2c
 Answers where the cycles of a program go, in which instruction, on which data, and what would
 change it: from perf.data captures of any machine, and of programs that it counts and records.
 .
 The program is static and needs no other package. qemu-user is for modelled runs; debuginfod has
 debuginfod-find, for symbols of servers.
END

install -D -m 644 share/cyclops/sysctl.d/60-cyclops.conf "$work/cyclops-sysctl/usr/lib/sysctl.d/60-cyclops.conf"
install -D -m 644 LICENSE "$work/cyclops-sysctl/usr/share/doc/cyclops-sysctl/copyright"
mkdir -p "$work/cyclops-sysctl/DEBIAN"
cat >"$work/cyclops-sysctl/DEBIAN/postinst" <<'END'
#!/bin/sh
# The next boot reads it where this one may not be changed.
[ "$1" != configure ] || sysctl -q -p /usr/lib/sysctl.d/60-cyclops.conf || echo "cyclops-sysctl: takes effect with the next boot"
END
chmod 755 "$work/cyclops-sysctl/DEBIAN/postinst"
package cyclops-sysctl all <<END
Depends: procps
Description: lets everybody measure with cyclops or perf, the kernel included
 Sets kernel.perf_event_paranoid to -1 and kernel.kptr_restrict to 0.
END

install -D -m 644 LICENSE "$work/cyclops-perfmon/usr/share/doc/cyclops-perfmon/copyright"
mkdir -p "$work/cyclops-perfmon/DEBIAN"
echo "interest-noawait /usr/bin/cyclops" >"$work/cyclops-perfmon/DEBIAN/triggers"
cat >"$work/cyclops-perfmon/DEBIAN/postinst" <<'END'
#!/bin/sh
set -e
case $1 in configure | triggered) setcap cap_perfmon=ep /usr/bin/cyclops ;; esac
END
cat >"$work/cyclops-perfmon/DEBIAN/prerm" <<'END'
#!/bin/sh
case $1 in remove) setcap -r /usr/bin/cyclops ;; esac
END
chmod 755 "$work/cyclops-perfmon/DEBIAN/postinst" "$work/cyclops-perfmon/DEBIAN/prerm"
package cyclops-perfmon all <<END
Depends: cyclops, libcap2-bin
Description: lets everybody measure with cyclops, but not with other programs
 Gives /usr/bin/cyclops CAP_PERFMON, which is enough for what kernel.perf_event_paranoid forbids.
END
