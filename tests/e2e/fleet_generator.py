#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Writes a simulated fleet as a dataset of `cyclops collect` (docs/fleet.md), and beside it the truth: what was drawn, added
up here, and what it was drawn from. Everything in it is simulated.

Each host makes a capture a day for ten days. There are two types of machines and three builds of one program, the last of
which has a function that costs more; one host spends more of its time in copy_bytes. A few parts are there twice, a few
were never committed, and some hosts' clocks are days off.

usage: fleet_generator.py --rows N [--hosts H] [--days D] [--seed S] DATASET
"""
import argparse
import datetime
import hashlib
import json
import multiprocessing
import os
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

FUNCTIONS = 180			# of the program; others are of the library and the kernel
PLACES = 6			# of a function
MACHINES = [("neoverse-n1", 0.6), ("neoverse-v2", 0.4)]
REGRESSION = ("parse_header", 1.6)
BAD_HOST = ("copy_bytes", 2.5)
SOURCES = ["L1D", "L2", "LLC", "DRAM"]
# Probability, mean latency in cycles, by machine and source.
LATENCIES = {
	"neoverse-n1": [(0.80, 5), (0.12, 14), (0.05, 70), (0.03, 280)],
	"neoverse-v2": [(0.82, 4), (0.12, 12), (0.04, 60), (0.02, 220)],
}
COMMON_LATENCY = 32		# cycles; above it no two records of a row have the same
CONTENTION = 0.2		# of load latency is for the queue
IPC = {"neoverse-n1": 1.2, "neoverse-v2": 1.9}
MISSES = 0.004			# of instructions; counted half of the time
FIRST_DAY = datetime.date(2026, 11, 1)


def key(*words):
	"""A positive 63-bit number."""
	return int.from_bytes(hashlib.sha256("\0".join(map(str, words)).encode()).digest()[:8], "little") >> 1


def functions():
	"""(module, function) of all, and their shares of the time, which fall as 1 / rank."""
	names = [("app", "parse_header"), ("app", "look_up"), ("libc.so.6", "copy_bytes"), ("[kernel.kallsyms]", "copy_page")]
	names += [("app", f"step_{i}") for i in range(FUNCTIONS - 2)]
	names += [("libc.so.6", f"string_{i}") for i in range(30)] + [("[kernel.kallsyms]", f"sys_{i}") for i in range(30)]
	shares = 1 / (np.arange(len(names)) + 6.0)
	return names, shares / shares.sum()


def build_ids(build):
	return {"app": hashlib.sha1(b"app" + build.encode()).hexdigest(), "libc.so.6": hashlib.sha1(b"libc").hexdigest(),
		"[kernel.kallsyms]": hashlib.sha1(b"kernel").hexdigest()}


NAMES, SHARES = functions()
BUILDS = "abc"
SAMPLES = pa.schema([
	("part", pa.int64()), ("place", pa.int64()), ("time_ns", pa.int64()), ("comm", pa.string()),
	("event", pa.string()), ("operation", pa.string()), ("source", pa.string()), ("latency", pa.int64()),
	("n", pa.int64()), ("weight", pa.int64()), ("walks", pa.int64()), ("branches", pa.int64()),
	("mispredicted", pa.int64()),
])
CAPTURES = pa.schema([
	("part", pa.int64()), ("capture", pa.string()), ("schema_version", pa.int64()), ("host", pa.string()), ("day", pa.string()),
	("boot_ns", pa.int64()), ("start_ns", pa.int64()), ("start_basis", pa.string()), ("duration_ns", pa.int64()),
	("collected_ns", pa.int64()), ("machine", pa.string()), ("midr", pa.string()), ("cpus", pa.int64()), ("arch", pa.string()),
	("kernel", pa.string()), ("recorder", pa.string()), ("command", pa.string()), ("file", pa.string()),
	("file_bytes", pa.int64()), ("records", pa.int64()), ("spe_records", pa.int64()), ("sample_rows", pa.int64()),
	("spe_interval", pa.int64()),
	("lost_events", pa.int64()), ("lost_samples", pa.int64()), ("truncated_buffers", pa.int64()), ("damaged_bytes", pa.int64()),
	("is_modelled", pa.bool_()), ("tool", pa.string()), ("build_ids", pa.list_(pa.string())), ("load_cycles", pa.int64()),
	("load_interval", pa.float64()),
])
SYMBOLS = pa.schema([
	("place", pa.int64()), ("build_id", pa.string()), ("module", pa.string()), ("path", pa.string()), ("module_offset", pa.int64()),
	("function", pa.string()), ("inlined", pa.string()), ("file", pa.string()), ("line", pa.int64()),
	("chain", pa.list_(pa.string())),
])
SHARED = pa.schema([
	("part", pa.int64()), ("address", pa.string()), ("lines", pa.int64()), ("object", pa.string()), ("type", pa.string()),
	("member", pa.string()), ("verdict", pa.string()), ("false_part", pa.float64()), ("records", pa.int64()), ("loads", pa.int64()),
	("stores", pa.int64()), ("atomics", pa.int64()), ("peer", pa.int64()), ("hitm", pa.int64()), ("reloads", pa.int64()),
	("saturated", pa.int64()), ("excess_cycles", pa.int64()), ("threads", pa.int64()), ("writer", pa.string()),
	("writer_module", pa.string()), ("reader", pa.string()), ("reader_module", pa.string()),
])
COUNTS = pa.schema([("part", pa.int64()), ("time_ns", pa.int64()), ("comm", pa.string()), ("event", pa.string()),
		    ("counter", pa.int64()), ("kind", pa.string()), ("mode", pa.string()), ("n", pa.int64()), ("counted", pa.int64()), ("scaled", pa.int64()), ("enabled_ns", pa.int64()), ("running_ns", pa.int64())])


def places_of(build):
	ids = build_ids(build)
	return np.array([[key(ids[module], f * 4096 + p * 4) for p in range(PLACES)]
			 for f, (module, _) in enumerate(NAMES)], dtype=np.int64)


PLACE_IDS = {b: places_of(b) for b in BUILDS}


def write(root, table, folder, name, columns, schema):
	where = os.path.join(root, table, folder)
	os.makedirs(where, exist_ok=True)
	pq.write_table(pa.table(columns, schema=schema), os.path.join(where, f"part-{name}.parquet"), compression="zstd")


def machine_of(host, n_hosts):
	return MACHINES[0][0] if host < n_hosts * MACHINES[0][1] else MACHINES[1][0]


def build_of(day, days):
	return BUILDS[min(2, day * 3 // days)]


def shares_of(rng, host, bad, build):
	"""Of this capture: hosts differ a little at random, the last build and the bad host by more."""
	shares = SHARES * rng.lognormal(0, 0.05, len(SHARES))
	names = [f for _, f in NAMES]
	if build == "c":
		shares[names.index(REGRESSION[0])] *= REGRESSION[1]
	if host == bad:
		shares[names.index(BAD_HOST[0])] *= BAD_HOST[1]
	return shares / shares.sum()


def host_captures(job):
	o, host = job
	rng = np.random.default_rng([o.seed, host])
	machine = machine_of(host, o.hosts)
	truth = {"samples": [], "latency": {}, "shared": np.zeros(3, dtype=np.int64), "counts": [], "rows": 0}
	for day in range(o.days):
		capture(o, rng, host, day, machine, truth)
	return truth


def counts_of(rng, part, start, machine):
	"""Columns of counts: what a capture counted beside its samples."""
	cycles = int(rng.integers(10**9, 10**10))
	instructions = int(cycles * IPC[machine] * rng.lognormal(0, 0.1))
	misses = int(instructions * MISSES * rng.lognormal(0, 0.2)) // 2
	return [[part] * 3, [start] * 3, ["app"] * 3, ["cycles", "instructions", "cache-misses"], [0, 1, 2],
		["cycles", "instructions", None], ["all"] * 3, [8] * 3, [cycles, instructions, misses], [cycles, instructions, 2 * misses], [10**10] * 3, [10**10, 10**10, 5 * 10**9]]


def capture(o, rng, host, day, machine, truth):
	build = build_of(day, o.days)
	n = o.rows // (o.hosts * o.days)
	name, hash_ = f"host{host:05}", hashlib.md5(f"{o.seed}/{host}/{day}".encode()).hexdigest()
	skew = 400 if host == o.skewed else 0		# this host's clock is days off
	date = (FIRST_DAY + datetime.timedelta(days=day + skew)).isoformat()
	start = int(datetime.datetime.fromisoformat(date + "T12:00:00+00:00").timestamp()) * 10**9
	folder, part = f"day={date}/host={name}", key(hash_, date, name)
	n_cycles = n // 2
	n_spe = n - n_cycles
	shares = shares_of(rng, host, o.bad, build)
	function = rng.choice(len(NAMES), n, p=shares)
	place = PLACE_IDS[build][function, rng.integers(0, PLACES, n)]
	count = rng.geometric(0.6, n)
	table = LATENCIES[machine]
	source = rng.choice(len(SOURCES), n_spe, p=[p for p, _ in table])
	latency = 1 + rng.exponential(np.array([m for _, m in table])[source]).astype(np.int64)
	latency = np.minimum(latency, 4095)
	# A row's records have one latency: those of a long one hardly meet.
	count[n_cycles:][latency > COMMON_LATENCY] = 1
	weight = np.concatenate([count[:n_cycles] * 1_000_000, count[n_cycles:] * latency])
	order = np.argsort(place[:n_cycles], kind="stable"), n_cycles + np.argsort(place[n_cycles:], kind="stable")
	order = np.concatenate(order)
	is_spe = np.arange(n) >= n_cycles
	pad = np.full(n_cycles, -1)

	def dictionary(codes, words):
		return pa.DictionaryArray.from_arrays(pa.array(codes, mask=codes < 0), pa.array(words)).cast(pa.string())

	zero = np.zeros(n, dtype=np.int64)
	columns = [
		np.full(n, part), place[order], np.full(n, start), dictionary(zero, ["app"]),
		dictionary(is_spe.astype(np.int8), ["cycles", "spe"]), dictionary(np.where(is_spe, 0, -1), ["load"]),
		dictionary(np.concatenate([pad, source])[order], SOURCES),
		pa.array(np.concatenate([pad, latency])[order], mask=~is_spe), count[order], weight[order], zero, zero, zero,
	]
	write(o.dataset, "samples", folder, hash_, columns, SAMPLES)
	load_cycles = int(rng.integers(50_000, 100_000))
	cost = int(load_cycles * CONTENTION * rng.lognormal(0, 0.3))
	peer = int(rng.integers(20, 90))
	shared = [[part] * 3, ["0x1000", "0x2000", "0x3000"], [1, 1, 1], ["queue", "table", None], ["struct queue", None, None],
		  ["queue.head", None, None], ["false-sharing", "true-sharing", "false-sharing"], [1.0, 0.0, 0.9],
		  [200, 90, 9], [120, 60, 5], [60, 20, 4], [20, 10, 0], [peer, 20, 2], [peer - 10, 5, 0], [0] * 3, [0] * 3,
		  [cost, 30_000, 50], [4, 2, 2], ["push", "put", "fill"], ["app"] * 3, ["pop", "get", "drain"], ["app"] * 3]
	write(o.dataset, "shared_lines", folder, hash_, shared, SHARED)
	counts = counts_of(rng, part, start, machine)
	write(o.dataset, "counts", folder, hash_, counts, COUNTS)
	modelled = False
	row = [part, hash_, 2, name, date, None, start, "recorded", 10**10, start + 10**12, machine, "0x413fd0c1", 64, "aarch64",
	       "6.1.0", "6.1", "app", f"{hash_}.data", n * 64, int(count.sum()), int(count[n_cycles:].sum()), n, 1024, host % 3, 0, 0, 0, modelled,
	       "simulated", list(build_ids(build).values()), load_cycles, 1024.0]
	columns = [[v] for v in row]
	if hash_ not in o.orphans:
		write(o.dataset, "captures", folder, hash_, columns, CAPTURES)
	else:
		return
	if hash_ in o.twice:				# collected once more, when the host's clock said another day
		other = (FIRST_DAY + datetime.timedelta(days=day + 1000)).isoformat()
		twin = key(hash_, other, name)
		row[0], row[4], row[9] = twin, other, row[9] + 10**13
		write(o.dataset, "samples", f"day={other}/host={name}", hash_,
		      [np.full(n, twin)] + [c for c in pq.read_table(
			      f"{o.dataset}/samples/{folder}/part-{hash_}.parquet").columns[1:]], SAMPLES)
		write(o.dataset, "shared_lines", f"day={other}/host={name}", hash_, [[twin] * 3] + shared[1:], SHARED)
		write(o.dataset, "counts", f"day={other}/host={name}", hash_, [[twin] * 3] + counts[1:], COUNTS)
		write(o.dataset, "captures", f"day={other}/host={name}", hash_, [[v] for v in row], CAPTURES)
	truth["shared"] += np.array([cost, peer, load_cycles])
	truth["counts"].append((date, machine, counts[9]))
	for event, is_it in (("cycles", slice(0, n_cycles)), ("spe", slice(n_cycles, n))):
		w = np.bincount(function[is_it], weights=weight[is_it].astype(float), minlength=len(NAMES))
		c = np.bincount(function[is_it], weights=count[is_it].astype(float), minlength=len(NAMES))
		truth["samples"].append((event, date, build, machine, name, w, c))
	for s in range(len(SOURCES)):
		h = np.bincount(latency[source == s], weights=count[n_cycles:][source == s], minlength=4096)
		at = truth["latency"].setdefault(SOURCES[s], np.zeros(4096))
		at += h
	truth["rows"] += n


def write_symbols(o):
	for build in BUILDS:
		ids, rows = build_ids(build), []
		for f, (module, function) in enumerate(NAMES):
			for p in range(PLACES):
				chain = ["inner", function] if p == 5 and module == "app" else [function]
				rows.append((int(PLACE_IDS[build][f, p]), ids[module], module, "/usr/bin/" + module, f * 4096 + p * 4,
					     function, chain[0] if len(chain) > 1 else None, "app.c", 10 * f + p, chain))
		write(o.dataset, "symbols", "day=2026-11-01/host=any", hashlib.md5(build.encode()).hexdigest(), list(zip(*rows)), SYMBOLS)


def join(parts, o):
	"""The truth of all hosts, as plain numbers."""
	out = {"rows": sum(p["rows"] for p in parts), "names": NAMES, "functions": {}, "by_build": {}, "by_day": {}, "latency": {},
	       "by_host": {}, "counts": {}, "builds": {b: build_ids(b)["app"] for b in BUILDS}, "bad": f"host{o.bad:05}",
	       "skewed": f"host{o.skewed:05}", "hosts": o.hosts, "days": o.days, "captures": o.hosts * o.days - len(o.orphans),
	       "orphans": len(o.orphans), "twice": len(o.twice), "regression": REGRESSION, "bad_function": BAD_HOST,
	       "shared": [int(x) for x in sum(p["shared"] for p in parts)]}
	for p in parts:
		for event, date, build, machine, host, w, c in p["samples"]:
			for where, at in (("functions", event), ("by_build", f"{event} {build}"), ("by_day", f"{event} {date}"),
					  ("by_host", f"{event} {machine} {host}")):
				old = out[where].setdefault(at, [np.zeros(len(NAMES)), np.zeros(len(NAMES))])
				old[0] += w
				old[1] += c
	for where in ("functions", "by_build", "by_day", "by_host"):
		out[where] = {k: [[int(x) for x in v[0]], [int(x) for x in v[1]]] for k, v in out[where].items()}
	for p in parts:
		for date, machine, scaled in p["counts"]:
			at = out["counts"].setdefault(f"{date} {machine}", [0, 0, 0])
			for i, n in enumerate(scaled):
				at[i] += n
	for host, p in enumerate(parts):
		for s, h in p["latency"].items():
			at = out["latency"].setdefault(f"{machine_of(host, o.hosts)} {s}", np.zeros(4096))
			at += h
	out["latency"] = {k: [int(x) for x in v] for k, v in out["latency"].items()}
	return out


def main():
	p = argparse.ArgumentParser()
	p.add_argument("--rows", type=int, required=True)
	p.add_argument("--hosts", type=int, default=1000)
	p.add_argument("--days", type=int, default=10)
	p.add_argument("--seed", type=int, default=1)
	p.add_argument("dataset")
	o = p.parse_args()
	o.bad, o.skewed = o.hosts * 617 // 1000, o.hosts * 333 // 1000
	every = [hashlib.md5(f"{o.seed}/{h}/{d}".encode()).hexdigest() for h in range(o.hosts) for d in range(o.days)]
	o.orphans, o.twice = set(every[3::max(len(every) // 5, 4)]), set(every[5::max(len(every) // 5, 4)])
	write_symbols(o)
	with multiprocessing.Pool() as pool:
		parts = pool.map(host_captures, [(o, h) for h in range(o.hosts)], chunksize=1)
	with open(os.path.join(o.dataset, "truth.json"), "w") as f:
		json.dump(join(parts, o), f)
	return 0


if __name__ == "__main__":
	sys.exit(main())
