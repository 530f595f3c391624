#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes an image for containers that has nothing but cyclops in it: an OCI layout as a tarball (podman load, skopeo copy).
#
# usage: oci.sh TREE ARCHITECTURE WORK OUT    TREE is what is below /usr; ARCHITECTURE as OCI says: amd64, arm64;
#     VERSION, SOURCE_DATE_EPOCH are set
set -e

tree=$1 architecture=$2 work=$3 out=$4
created=$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y-%m-%dT%H:%M:%SZ)
image=$work/layout:$VERSION

rm -rf "$work"
mkdir -p "$work"
umoci init --layout "$work/layout"
umoci new --image "$image"
umoci unpack --rootless --image "$image" "$work/bundle" 2>/dev/null
mkdir -p "$work/bundle/rootfs/tmp" "$work/bundle/rootfs/work"
chmod 1777 "$work/bundle/rootfs/tmp"
cp -a "$tree" "$work/bundle/rootfs/usr"
find "$work/bundle/rootfs" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
umoci repack --image "$image" --history.created "$created" --history.created_by "make dist" "$work/bundle"
umoci config --image "$image" --created "$created" --author "The cyclops developers" --os linux --architecture "$architecture" \
	--config.entrypoint /usr/bin/cyclops --config.cmd help --config.workingdir /work --config.env PATH=/usr/bin \
	--config.label "org.opencontainers.image.revision=$(git rev-parse HEAD)" --history.created "$created" \
	--history.created_by "make dist"
umoci gc --layout "$work/layout"
# What `podman load` names it: a tag alone would be taken for the name.
sed -i "s/\\(\"org.opencontainers.image.ref.name\":\"\\)$VERSION\"/\\1cyclops:$VERSION\"/" "$work/layout/index.json"
tar -C "$work/layout" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" --format=gnu -cf "$out" .
