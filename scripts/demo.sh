#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Shows cyclops on captures that come with the sources, of programs with one problem
# each, and on one that is recorded now, if this machine allows it.
set -e
build=${1:-build}
data=$(dirname "$0")/../tests/data
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

bold= plain=
if [ -t 1 ]; then
	bold=$(printf '\033[1m') plain=$(printf '\033[0m')
fi

say() { printf '\n%s\n' "$bold$*$plain"; }

# show COMMAND SAMPLE [OPTIONS]: a command of cyclops on one of the samples
show() {
	command=$1 sample=$2
	shift 2
	say "\$ cyclops $command${*:+ $*} --symfs root samples/$sample.data"
	echo
	"$build/cyclops" "$command" "$@" --symfs "$data/root" "$data/samples/$sample.data"
}

say "Two threads that share nothing but a cache line (kernels/sharing.c), on a modelled Neoverse N1"
show c2c sharing

say "Loads that come from memory (kernels/chase.c)"
show report chase --top 4

say "Copies whose lengths no branch predictor knows (kernels/copies.c)"
show hot copies --event mispredicted --by instruction --top 5

say "This machine, now"
cat >"$work/work.py" <<'EOS'
import json, random
random.seed(1)
rows = [{"id": i, "name": str(random.random()), "tags": [i % 7, i % 11]} for i in range(60000)]
text = json.dumps(sorted(rows, key=lambda row: row["name"]))
print(len(text), sum(len(row["tags"]) for row in json.loads(text)))
EOS
python=$(python3 -c 'import sys; print(sys.executable)')
if "$build/cyclops" record -e cpu-clock -g -o "$work/perf.data" -- "$python" "$work/work.py" >"$work/log" 2>&1; then
	say "\$ cyclops record -e cpu-clock -g -- python3 work.py; cyclops report"
	echo
	"$build/cyclops" report --top 5 "$work/perf.data"
else
	echo "this machine does not let us sample: $(tail -n 1 "$work/log")"
fi
