#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes packages for RPM: cyclops, and cyclops-sysctl and cyclops-perfmon, which let more people measure.
#
# usage: rpm.sh TREE ARCHITECTURE WORK OUT    TREE is what is below /usr; VERSION, LEVEL, SOURCE_DATE_EPOCH are set
set -e

tree=$1 architecture=$2 work=$3 out=$4

# usage: build NAME ARCHITECTURE    $work/NAME has its files; from %description on the spec comes from standard input
build() {
	{
		cat <<-END
			Name: $1
			Version: $VERSION
			Release: 1
			License: Apache-2.0
			Summary: $3
			AutoReqProv: no
		END
		[ "$2" = noarch ] && echo "BuildArch: noarch"
		cat
	} >"$work/$1.spec"
	rpmbuild -bb --quiet --nodeps --target "$2" --buildroot "$work/root-$1" \
		-D "_topdir $work/top" -D "_rpmdir $out" -D "_build_name_fmt %{NAME}-%{VERSION}-%{RELEASE}.%{ARCH}.rpm" \
		-D "_buildhost localhost" -D "use_source_date_epoch_as_buildtime 1" -D "clamp_mtime_to_source_date_epoch 1" \
		-D "_build_id_links none" -D "debug_package %{nil}" -D "__os_install_post %{nil}" -D "_binary_payload w$LEVEL.xzdio" \
		-D "_unpackaged_files_terminate_build 1" -D "_docdir_fmt %{NAME}" -D "_dbpath $work/db" \
		-D "__spec_install_pre mkdir -p %{buildroot} && cp -a $work/$1/. %{buildroot}" "$work/$1.spec"
}

rm -rf "$work"
mkdir -p "$work/cyclops" "$work/cyclops-sysctl" "$work/cyclops-perfmon"
cp -a "$tree" "$work/cyclops/usr"
gzip -9 -n "$work/cyclops/usr/share/man/man1"/*.1
{
	cat <<-END
		Recommends: qemu-user
		%description
		Answers where the cycles of a program go, in which instruction, on which data, and what would
		change it: from perf.data captures of any machine, and of programs that it counts and records.
		The program is static and needs no other package. qemu-user is for modelled runs.
		%install
		%files
		%defattr(-,root,root)
	END
	# Folders that are cyclops' own are of the package, others of the system.
	cd "$work/cyclops"
	find usr ! -type d -printf '/%p\n' | sort
	find usr -type d -name cyclops -prune -exec find {} -type d -printf '%%dir /%p\n' \; | sort
} | build cyclops "$architecture" "Hardware performance analysis: SPE, PMU, top-down, c2c"

install -D -m 644 share/cyclops/sysctl.d/60-cyclops.conf "$work/cyclops-sysctl/usr/lib/sysctl.d/60-cyclops.conf"
build cyclops-sysctl noarch "Lets everybody measure with cyclops or perf, the kernel included" <<'END'
Requires: procps-ng
%description
Sets kernel.perf_event_paranoid to -1 and kernel.kptr_restrict to 0.
%install
%post
sysctl -q -p /usr/lib/sysctl.d/60-cyclops.conf || echo "cyclops-sysctl: takes effect with the next boot"
%files
%defattr(-,root,root)
/usr/lib/sysctl.d/60-cyclops.conf
END

build cyclops-perfmon noarch "Lets everybody measure with cyclops, but not with other programs" <<'END'
Requires: cyclops, libcap
%description
Gives /usr/bin/cyclops CAP_PERFMON, which is enough for what kernel.perf_event_paranoid forbids.
%install
%post
setcap cap_perfmon=ep /usr/bin/cyclops
%triggerin -- cyclops
setcap cap_perfmon=ep /usr/bin/cyclops
%preun
[ "$1" != 0 ] || setcap -r /usr/bin/cyclops
%files
END
