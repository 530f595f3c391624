#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes the programs and captures of tests/data/samples anew: make-samples.sh [BUILD_DIR]
# As with make-demo.sh, the same compiler and emulator give the same bytes.
set -eu

cd "$(dirname "$0")/.."
cyclops=$(realpath "${1:-build}/cyclops")
folder=tests/data/root/opt/kernels
mkdir -p $folder tests/data/samples

# program NAME SOURCE [FLAGS]
program() {
	program=$1 of=$2
	shift 2
	(cd kernels && aarch64-linux-gnu-gcc -O2 -g -Wall -Wextra -march=armv8.2-a \
		-ffile-prefix-map="$PWD"=/opt/kernels -ffreestanding -fno-stack-protector \
		-fno-tree-vectorize -fno-asynchronous-unwind-tables -static -nostdlib \
		-Wl,--build-id=sha1 -Wl,-z,noseparate-code,-z,max-page-size=4096 "$@" -o "../$folder/$program" "$of.c")
	ln -sf "../../../../../kernels/$of.c" "$folder/$of.c"
}

# make NAME SOURCE INTERVAL OPTIONS [FLAGS]: one program, one capture
make() {
	name=$1 source=$2 interval=$3 options=$4
	shift 4
	program "$name" "$source" "$@"
	# shellcheck disable=SC2086 # options are words
	env -i PATH=/usr/local/bin:/usr/bin:/bin "$cyclops" model --interval "$interval" $options \
		--root tests/data/root -o "tests/data/samples/$name.data" -- "$folder/$name"
}

make sharing sharing 1024 ""
make padded sharing 1024 "" -DPADDED
make chase chase 2048 ""
# The machine of the published benchmark has a system cache smaller than the array.
make stride stride 2048 "--set system_cache_bytes=8388608"
make stride-ahead stride 2048 "--set system_cache_bytes=8388608" -DAHEAD=40
make copies copies 1024 ""
make multiply multiply 4096 ""
# The events of a cycle accounting tree, multiplexed on the six counters of the core.
events=
for event in CPU_CYCLES:29989 STALL_BACKEND:29989 STALL_FRONTEND:9973 INST_RETIRED:29989 INST_SPEC:29989 \
	L1D_CACHE_REFILL_RD:2003 L2D_CACHE_REFILL_RD:499 L1D_TLB_REFILL_RD:997 DTLB_WALK:499 BR_MIS_PRED_RETIRED:499; do
	events="$events --sample $event"
done
# shellcheck disable=SC2086 # options are words
env -i PATH=/usr/local/bin:/usr/bin:/bin "$cyclops" model $events --counters 6 --set mux_interval_us=10 \
	--root tests/data/root -o tests/data/cycles.data -- tests/data/root/opt/demo/demo
# Branch stacks: of all taken branches, beside instructions; of returns.
program executions executions -DROUNDS=4000
env -i PATH=/usr/local/bin:/usr/bin:/bin "$cyclops" model --sample pc_write_spec:397:precise --sample inst_retired:997 \
	--set skid_cycles=20 --branch-stack=16 --root tests/data/root -o tests/data/executions.data -- $folder/executions
program calls calls -DROUNDS=400
env -i PATH=/usr/local/bin:/usr/bin:/bin "$cyclops" model --sample br_return_spec:97:precise --branch-stack=32,ret \
	--root tests/data/root -o tests/data/calls.data -- $folder/calls
# SPE records, and stacks for their callers.
program gather gather
env -i PATH=/usr/local/bin:/usr/bin:/bin "$cyclops" model --interval 2048 --stacks \
	--root tests/data/root -o tests/data/callers.data -- $folder/gather
ln -sf ../../../../../kernels/start.h $folder/start.h
ls -l tests/data/samples $folder
