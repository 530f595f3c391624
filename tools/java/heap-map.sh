#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Writes the heap map of a Java VM that runs: heap-map.sh PID FILE [CLASS...]; see HeapMap.java.
# JAVA names another java than that of the PATH: it has to be the one that runs the program.
set -e

packages=
for package in "" .oops .runtime .debugger; do
	packages="$packages --add-exports jdk.hotspot.agent/sun.jvm.hotspot$package=ALL-UNNAMED"
done
# shellcheck disable=SC2086 # the words of it
exec "${JAVA:-java}" --add-modules jdk.hotspot.agent $packages "$(dirname "$0")/HeapMap.java" "$@"
