#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs the fuzz targets, one after the other: fuzz.sh [SECONDS [TARGET...]]. Default: all, 60 s
# each. Failing inputs are kept in build-fuzz/found, inputs with new coverage in build-fuzz/new.
set -e
cd "$(dirname "$0")/.."
seconds=${1:-60}
[ $# -eq 0 ] || shift
build=$PWD/build-fuzz

[ -f "$build/build.ninja" ] ||
	CC=clang meson setup "$build" -Dfuzz=true -Db_sanitize=address,undefined -Db_lundef=false >/dev/null
names=${*:-$(ls tests/fuzz | sed -n 's/_fuzz\.c$//p')}
for name in $names; do
	ninja -C "$build" --quiet "tests/fuzz/fuzz-$name"
done

failed=
for name in $names; do
	mkdir -p "$build/found" "$build/new/$name"
	echo "$name: $seconds s"
	UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 "$build/tests/fuzz/fuzz-$name" \
		-max_total_time="$seconds" -timeout=20 -rss_limit_mb=4096 -print_final_stats=1 -verbosity=0 \
		-artifact_prefix="$build/found/$name-" "$build/new/$name" "tests/fuzz/corpus/$name" \
		>"$build/$name.log" 2>&1 || failed="$failed $name"
	sed -n 's/^stat::number_of_executed_units: */    runs: /p' "$build/$name.log"
done
for name in $failed; do
	echo "FAILED $name: $build/$name.log"
done
[ -z "$failed" ]
