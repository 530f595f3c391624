#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Profiles that `cyclops export` writes for other tools: each function has in each format what it has in `hot`,
each file is read by a small reader of this test, and strange names end no line, string or tag.

usage: profiles.py [--tools] CYCLOPS MAKE-CAPTURE DATA [FORMAT...]

On captures of DATA, on made-up ones, and on those in the folder that the variable CYCLOPS_CAPTURES names. --tools: with
tools that have to be compiled first, too.
"""

import collections
import csv
import gzip
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
from xml.etree import ElementTree

import small_elf
from harness import ENVIRONMENT, NO_DATA, NO_PROFILES, Checks, Failed, csv_rows, export_formats, real_captures, run, run_perf

NOP, RET = 0xd503201f, 0xd65f03c0

# Names that end strings, lines, tags and paths where they are not escaped.
NAMES = [b'say "hello"', b"a;b;c 12", b"line\nend", b"</script><script>alert(1)</script>", b"caf\xc3\xa9", b"bad\xff\xfeutf",
         b"back\\slash", b"<&'>", b"tab\tbell\x07", b"\xe2\x80\xaeright to left", b"x" * 3000, b"]]>", b"%s%n", b"cr\r\x00"[:3],
         b"(id) name", b"fn=(1) x", b"\x1b[2J\x1b]0;x\x07", b"C1 \xc2\x9b", b"\xe2\x81\xa6isolated\xe2\x81\xa9 \xd8\x9c", b"<!--<script>",
         b"${1}{{2}}`3`", b"plain"]


EVENT = None  # of the capture that is looked at: the one that `hot` shows first; None: there is one only
MODULES = {}  # of the capture that is looked at: short name, as `hot` shows it, by path


def hot_sums(cyclops, path, *options):
    """{function or [module]: weight} of the first event of the table of `hot`, and its name."""
    rows = csv_rows(cyclops, "hot", "--all", "--format", "csv", *options, path)
    sums = collections.Counter()
    event = rows[0].get("event") if rows else None
    for row in rows:
        if int(row["samples"]) == 0 or row.get("event") != event:
            continue
        weight = int(row["latency_cycles"] or row["period"] or 0)
        if not weight and not row["latency_cycles"]:
            weight = int(row["samples"])
        sums[row["function"] if row["function"] != "[unknown]" or row["module"] == "[unknown]" else f"[{row['module']}]"] += weight
    if not sum(sums.values()):  # nothing weighs anything: profiles count records then
        for row in rows:
            if row.get("event") == event:
                name = row["function"] if row["function"] != "[unknown]" or row["module"] == "[unknown]" else f"[{row['module']}]"
                sums[name] += int(row["samples"])
    return +sums


def own_name(frames, is_inlined):
    """Of frames from the leaf on: the first one that is not inlined, as in the column `function` of hot."""
    return next((frame for frame in frames if not is_inlined(frame)), frames[-1])


def read_folded(data):
    sums = collections.Counter()
    for line in data.decode().splitlines():
        stack, weight = line.rsplit(" ", 1)
        frames = stack.split(";")[::-1]
        sums[own_name(frames[:-1], lambda frame: frame.endswith("_[i]"))] += int(weight)
    return sums


def read_svg(data):
    """Self: what a frame has less those that stand on it. The smallest frames are left out, so their sum is in it."""
    root = ElementTree.fromstring(data.decode())
    tag = "{http://www.w3.org/2000/svg}"
    if any(element.tag not in {tag + name for name in ("svg", "title", "style", "text", "g", "rect")} for element in root.iter()):
        raise Failed("svg: other elements than those that are written")
    if any(len(text.text) > 160 for text in root.iter(tag + "text") if text.get("class") == "note"):
        raise Failed("svg: a note is wider than the picture")
    frames, sums = [], collections.Counter()
    for group in root.iter(tag + "g"):
        title, rect = group.find(tag + "title").text, group.find(tag + "rect")
        name, weight = re.fullmatch(r"(.*): ([\d ]+) \w+, [\d.]+ %", title).groups()
        frames.append((float(rect.get("x")), int(rect.get("y")), float(rect.get("width")), name, int(weight.replace(" ", ""))))
    stack = []
    for x, y, width, name, weight in frames:  # parents stand before their children
        while stack and stack[-1][0] <= y:
            stack.pop()
        if stack and not (stack[-1][1] - 0.02 <= x and x + width <= stack[-1][1] + stack[-1][2] + 0.02):
            raise Failed(f"svg: {name} does not stand on its caller")
        if stack:
            sums[stack[-1][3]] -= weight
        is_inlined = name.endswith(", inlined)")
        name = re.sub(r" \((?:pid \d+|[^()]*)\)$", "", name)
        own = stack[-1][3] if is_inlined and stack else name
        sums[own] += weight
        stack.append((y, x, width, own))
    return +sums


def fields_of(message):
    """A Protocol Buffers message: {field: [numbers or bytes]}."""
    at, fields = 0, collections.defaultdict(list)

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 0x7f) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(message):
        tag = varint()
        if tag & 7 == 0:
            fields[tag >> 3].append(varint())
        elif tag & 7 == 1:
            fields[tag >> 3].append(int.from_bytes(message[at:at + 8], "little"))
            at += 8
        elif tag & 7 == 2:
            size = varint()
            if at + size > len(message):
                raise Failed("protobuf: a field is longer than its message")
            fields[tag >> 3].append(message[at:at + size])
            at += size
        else:
            raise Failed(f"protobuf: wire type {tag & 7}")
    return fields


def packed(fields, field):
    """Numbers of a packed field."""
    numbers, value, shift = [], 0, 0
    for byte in b"".join(fields[field]):
        value |= (byte & 0x7f) << shift
        shift += 7
        if byte < 0x80:
            numbers.append(value)
            value = shift = 0
    return numbers


# Of values that are no plain number.
UNITS = {"spe_cycles": "cycles", "cycles": "cycles", "cycles:u": "cycles", "cpu-clock": "nanoseconds", "task-clock": "nanoseconds"}


def read_pprof(data):
    profile = fields_of(gzip.decompress(data))
    strings = [text.decode() for text in profile[6]]
    if not strings or strings[0]:
        raise Failed("pprof: the first string is not empty")
    types = [strings[fields_of(kind)[1][0]] for kind in profile[1]]
    units = {strings[fields_of(kind)[1][0]]: strings[fields_of(kind)[2][0]] for kind in profile[1]}
    if any(unit != UNITS.get(name, unit) or unit not in ("count", *UNITS.values()) for name, unit in units.items()):
        raise Failed(f"pprof: units {units}")
    index = types.index(strings[profile[14][0]]) if profile[14] else 0
    functions = {f[1][0]: strings[(f[2] or [0])[0]] for f in map(fields_of, profile[5])}
    mappings = {m[1][0]: m for m in map(fields_of, profile[3])}
    locations = {f[1][0]: f for f in map(fields_of, profile[4])}
    if len(set(functions)) != len(profile[5]) or len(set(locations)) != len(profile[4]):
        raise Failed("pprof: an id is used twice")
    sums = collections.Counter()
    for sample in map(fields_of, profile[2]):
        values, stack = packed(sample, 2), packed(sample, 1)
        if len(values) != len(types):
            raise Failed("pprof: another number of values than types")
        leaf = locations[stack[0]]
        mapping = mappings[leaf[2][0]] if leaf[2] else None
        if mapping and not mapping[2][0:1] <= leaf[3] < mapping[3]:
            raise Failed("pprof: an address outside its mapping")
        if leaf[4]:
            name = functions[fields_of(leaf[4][-1])[1][0]]  # the last line is not inlined
        else:
            name = f"[{MODULES[strings[mapping[5][0]]]}]" if mapping else "[unknown]"
        sums[name] += values[index]
    return +sums


def read_speedscope(data):
    file = json.loads(data)
    frames = [frame["name"] for frame in file["shared"]["frames"]]
    sums = collections.Counter()
    for profile in file["profiles"]:
        if len(profile["samples"]) != len(profile["weights"]) or sum(profile["weights"]) != profile["endValue"]:
            raise Failed("speedscope: samples and weights do not go together")
        if profile["name"].split(":")[0] == file["profiles"][file["activeProfileIndex"]]["name"].split(":")[0]:
            for stack, weight in zip(profile["samples"], profile["weights"]):
                sums[own_name([frames[i] for i in stack[::-1]], lambda frame: frame.endswith(" (inlined)"))] += weight
    return +sums


def read_callgrind(data):
    sums, names, function, values = collections.Counter(), {}, None, 0
    events = []
    for line in data.decode().split("\n"):
        key, _, rest = line.partition("=")
        if line.startswith("events:"):
            events = line.split()[1:]
            index = next((events.index(name) for name in ("cycles", "period", "samples") if name in events), 0)
        elif line.startswith("summary:"):
            values = list(map(int, line.split()[1:]))
        elif key in ("fn", "cfn"):
            number, name = re.fullmatch(r"\((\d+)\)(?: (.*))?", rest).groups()
            if name is not None and names.setdefault(number, name) != name:
                raise Failed(f"callgrind: function {number} has two names")
            function, is_call = (names[number], False) if key == "fn" else (function, True)
        elif line[:1].isdigit():
            if is_call:
                is_call = False
                continue
            own = re.sub(r"^.* \(inlined into (.*)\)$", r"\1", function)
            sums[own] += int(line.split()[1 + index])
        elif line and not re.match(r"#|(version|creator|desc|positions|event): |(ob|fl|cob|cfi|calls)=", line):
            raise Failed(f"callgrind: a line that is none: {line[:200]}")
    if events and sum(sums.values()) != values[index]:
        raise Failed("callgrind: lines do not add up to the summary")
    return +sums


def read_chrome_trace(data):
    trace = json.loads(data)
    frames, sums, all_weights = trace["stackFrames"], collections.Counter(), collections.Counter()
    first = trace["samples"][0]["name"] if trace["samples"] else None
    for sample in trace["samples"]:
        all_weights[sample["name"], sample["tid"]] += sample["weight"]
        frame = frames[sample["sf"]]
        while frame["name"].endswith(" (inlined)"):
            frame = frames[frame["parent"]]
        if sample["name"] == first:
            sums[frame["name"]] += sample["weight"]
    counted = collections.Counter()
    for event in trace["traceEvents"]:
        if event["ph"] == "C":
            counted[event["name"].rsplit(", thread ", 1)[0], event["tid"]] += sum(event["args"].values())
    if counted and +counted != +all_weights:
        raise Failed("chrome-trace: counters and samples do not add up to the same")
    return +sums


def read_otlp(data):
    """Of the first event, the value that `hot` weighs by."""
    file = fields_of(data)
    tables = collections.defaultdict(list)
    for piece in map(fields_of, file[2]):
        for number, entries in piece.items():
            tables[number] += entries
    strings = [text.decode() for text in tables[5]]
    mappings, locations, functions, stacks = ([fields_of(entry) for entry in tables[n]] for n in (1, 2, 3, 7))
    if any(any(table[0].values()) for table in (mappings, locations, functions, stacks)) or strings[0]:
        raise Failed("otlp: the first entry of a table is not empty")
    profiles = {}
    for resource in map(fields_of, file[1]):
        profile = fields_of(fields_of(resource[2][0])[2][0])
        profiles[strings[fields_of(profile[1][0])[1][0]]] = profile
    first = next(iter(profiles), " ").rsplit(" samples", 1)[0]
    chosen = profiles.get(f"{first} cycles" if first == "spe" else first) or profiles.get(f"{first} samples", {2: []})
    sums = collections.Counter()
    for sample in map(fields_of, chosen[2]):
        for index in packed(sample, 2):
            fields_of(tables[6][index])
        leaf = locations[packed(stacks[sample[1][0]], 1)[0]]
        if leaf[3]:
            name = strings[functions[fields_of(leaf[3][-1])[1][0]][1][0]]
        else:
            name = f"[{MODULES[strings[mappings[leaf[1][0]][4][0]]]}]" if leaf[1] else "[unknown]"
        sums[name] += packed(sample, 4)[0]
    return +sums


def read_firefox(data):
    file = json.loads(data)
    sums = collections.Counter()
    for thread in file["threads"]:
        tables = {name: thread[name] for name in ("samples", "stackTable", "frameTable", "funcTable", "resourceTable", "markers")}
        for name, table in tables.items():
            if any(len(column) != table["length"] for column in table.values() if isinstance(column, list)):
                raise Failed(f"firefox: columns of {name} are not of one length")
        samples, stacks, frames = tables["samples"], tables["stackTable"], tables["frameTable"]
        if any(prefix is not None and prefix >= i for i, prefix in enumerate(stacks["prefix"])):
            raise Failed("firefox: a caller stands behind what it calls")
        if samples["time"] != sorted(samples["time"]):
            raise Failed("firefox: times go back")
        if any(category >= len(file["meta"]["categories"]) for category in stacks["category"]):
            raise Failed("firefox: a category that is not there")
        if sum(mark["weight"] for mark in thread["markers"]["data"]) not in (0, sum(samples["weight"])):
            raise Failed("firefox: slices do not add up to the samples")
        for stack, weight in zip(samples["stack"], samples["weight"]):
            while frames["inlineDepth"][stacks["frame"][stack]] > 0:
                stack = stacks["prefix"][stack]
            name = tables["funcTable"]["name"][frames["func"][stacks["frame"][stack]]]
            sums[thread["stringArray"][name]] += weight
    return +sums


def read_perf_script(data):
    """Of the event that `hot` shows first, if it names events."""
    text = re.sub("[\udc80-\udcff]", "\ufffd", data.decode(errors="surrogateescape"))
    sums, weight = collections.Counter(), None
    place = re.compile(r"\s*[0-9a-f]+ (.*) \((.*)\)$")
    for line in text.splitlines():
        head = re.match(r"\s*\S.*?\s+-?\d+ (?:\[\d+\] )?(?:\s*\d+\.\d{6}: )?\s*(\d+)\s+(\S.*?): (.*)$", line)
        if line.startswith("\t"):
            rest = line
        elif head:
            weight = (int(head[1]), head[2])
            rest = head[3]
        elif line:
            raise Failed(f"perf-script: a line that is none: {line[:200]}")
        found = place.match(rest) if line else None
        if found and weight:
            if EVENT in (None, "arm_spe" if weight[1] == "spe" else weight[1]):
                name = re.sub(r"\+0x[0-9a-f]+$", "", found[1])
                module = MODULES.get(found[2], found[2].replace("/tmp/perf-", "perf-"))
                sums[name if name != "[unknown]" or module == "[unknown]" else f"[{module}]"] += weight[0]
            weight = None
    return +sums


def check_perf_script(checks, cyclops, path):
    """What perf itself prints for the same file, line by line; both are sorted, as perf orders by time."""
    fields = "comm,tid,cpu,time,period,event,ip,dso"
    words = ("script", "-f", "--no-itrace", "--max-stack", 3000, "-i", path)
    done = run_perf(*words, "-F", fields)
    if b"Cannot print 'cpu'" in done.stderr:
        fields = fields.replace("cpu,", "")
        done = run_perf(*words, "-F", fields)
    if done.returncode or not done.stdout:
        return
    ours = run(cyclops, "export", "--format", "perf-script", "--fields", fields, path)
    theirs = re.sub(rb"\(/lib/modules/\S*/(\S+)\.ko\)", rb"([\1])", done.stdout)  # it has both
    theirs, ours = (re.sub(rb"( f{4}[0-9a-f]{12} )\(\[unknown\]\)", rb"\1([kernel.kallsyms])", text)
                    for text in (theirs, ours))  # perf goes by the mode, cyclops by the address
    theirs = theirs.replace(b"[-01] ", b"")  # the event has no CPU
    ours = [line for line in ours.splitlines() if not re.search(rb" spe:  ", line)]
    checks.equal(f"{os.path.basename(path)}: lines of perf script", sorted(ours), sorted(theirs.splitlines()), "perf")
    checks.count("captures beside perf")


def shown(name):
    """A name without control characters, as put_printable() shows it; `hot` has shown it without invalid bytes."""
    return re.sub("[\0-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]", "\ufffd", name)


# By format: its reader, and how it shows a name.
READERS = {
    "callgrind": (read_callgrind, shown),
    "chrome-trace": (read_chrome_trace, shown),
    "otlp": (read_otlp, shown),
    "firefox": (read_firefox, shown),
    "perf-script": (read_perf_script, shown),
    "speedscope": (read_speedscope, shown),
    "pprof": (read_pprof, shown),
    "svg": (read_svg, shown),
    "folded": (read_folded, lambda name: shown(name).replace(";", ":")),
}


def merged(sums, show):
    out = collections.Counter()
    for name, weight in sums.items():
        out[show(name)] += weight
    return +out


def check_sums(checks, cyclops, path, formats, *options):
    global EVENT  # the readers of files with all events need it
    rows = csv_rows(cyclops, "hot", "--top", 1, "--format", "csv", *options, path)
    EVENT = rows[0].get("event", "arm_spe" if "--event" in options else None) if rows else None
    expected = hot_sums(cyclops, path, *options)
    MODULES.clear()
    MODULES.update((row["path"], row["module"]) for row in csv_rows(cyclops, "hot", "--by", "module", "--all", "--format", "csv", *options, path))
    for name in formats:
        read, show = READERS[name]
        done = subprocess.run([cyclops, "export", "--format", name, *options, path], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT, check=False)
        what = f"{os.path.basename(path)}: {name}"
        checks.expect(done.returncode in (0, NO_DATA), f"{what}: exit status {done.returncode}: {done.stderr[-300:]}")
        checks.expect((done.returncode == NO_DATA) == (not expected), f"{what}: exit status {done.returncode}, hot has {len(expected)} rows")
        if b"narrower than half a pixel" in done.stderr:
            checks.equal(f"{what}, all", [sum(read(done.stdout).values())], [sum(expected.values())], "hot")
            checks.count(f"{name}: with frames left out")
            continue
        checks.equal(what, sorted(merged(read(done.stdout), show).items()), sorted(merged(expected, show).items()), "hot")
        checks.count(f"{name}: functions", len(expected))


def check_spe(checks, cyclops, path, formats, *options):
    """SPE records, too, where another event comes first in `hot`: with the callers that are estimated for them, or without."""
    rows = csv_rows(cyclops, "hot", "--by", "event", "--all", "--format", "csv", *options, path)
    if not (any(row["period"] for row in rows) and any(row["latency_cycles"] for row in rows)):
        return
    check_sums(checks, cyclops, path, formats, *options, "--event", "spe")
    checks.count("captures with other samples beside SPE records")


def check_callers(checks, cyclops, path, *options):
    """Callers divide the rows of `hot`: these have the same numbers with and without, and their callers no more."""
    numbers = ("event", "function", "module", "samples", "period", "latency_cycles")
    words = ("hot", "--all", "--format", "csv", *options)
    plain, rows = csv_rows(cyclops, *words, path), csv_rows(cyclops, *words, "--callers", path)
    own = [[row.get(name) for name in numbers] for row in rows if not row.get("parent_row")]
    checks.equal(f"{os.path.basename(path)}: rows of hot --callers", own, [[row.get(name) for name in numbers] for row in plain], "hot")
    below = collections.Counter()
    for row in rows:
        if row.get("parent_row"):
            below[row["parent_row"]] += int(row["samples"])
    for row in rows:
        checks.expect(below[row.get("row")] <= int(row["samples"]), f"{os.path.basename(path)}: callers of {row['function']} have more than it")


def check_determinism(checks, cyclops, path, formats, *options):
    """Also where next to nothing is kept in memory, so that everything goes through temporary files."""
    for name in formats:
        words = (cyclops, "export", "--format", name, *options, path)
        outputs = {run(*words, "-j", n) for n in (1, 2, 3, 3)}
        outputs |= {run("env", f"CYCLOPS_EXPORT_MEMORY={size}", *words, "-j", n) for n, size in ((1, "1K"), (7, "16K"))}
        checks.expect(len(outputs) == 1, f"{os.path.basename(path)}: {name} differs with the number of threads or the memory")
        checks.count(f"{name}: the same by temporary files")


# What reads the files, where it is installed; the words stand before the file's name.
TOOLS = {"pprof": ("go", "tool", "pprof", "-raw"), "callgrind": ("callgrind_annotate",)}


def is_there(program, has_time):
    """Can the program be used? Go of 1.25 and later compiles its tools where they are called first, which takes it most of a minute."""
    if shutil.which(program) is None:
        return False
    if program != "go" or has_time:
        return True
    folder = subprocess.run([program, "env", "GOTOOLDIR"], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False).stdout.strip()
    return os.path.exists(os.path.join(folder, "pprof"))


def check_tools(checks, cyclops, path, formats, folder, has_time, *options):
    for name in TOOLS.keys() & set(formats):
        if not is_there(TOOLS[name][0], has_time):
            continue
        out = os.path.join(folder, f"out.{name}")
        run(cyclops, "export", "--format", name, "-o", out, *options, path)
        done = subprocess.run([*TOOLS[name], out], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        checks.expect(done.returncode == 0 and b"alert(1)" in done.stdout, f"{name}: {TOOLS[name][0]} cannot read it: {done.stderr[-300:]}")
        checks.count(f"{name}: read by {TOOLS[name][0]}")


def check_capture(checks, cyclops, path, formats, *options):
    check_sums(checks, cyclops, path, formats, *options)
    check_spe(checks, cyclops, path, formats, *options)
    check_callers(checks, cyclops, path, *options)
    checks.count("captures")


def make_strange(maker, folder):
    """A capture of a program with strange names."""
    program, path = os.path.join(folder, "prog"), os.path.join(folder, "strange.data")
    small_elf.write(program, {name.decode(errors="surrogateescape"): [NOP] * 15 + [RET] for name in NAMES})
    run(maker, "--output", path, "--records", 20000, "--binary", program, "--symbols")
    return path


# Names that would be more than a name in a sample profile of LLVM.
SAMPLE_NAMES = [*NAMES, b"a b:7 c:9 ", b"x:5 y", b"std::vector<int, 3>::f(int) const", b"a\nb:1:1\n 3: 4", b" 5: 6", b"1:2", b"# comment",
                b"!CFGChecksum: 5", b"\x1b[31m", b"[x @ y]:3", b":9"]


def sample_name(name):
    """Of a function, as a sample profile has it; colons in front of a digit end names there."""
    return re.sub(rb"^[ #0-9]|[\n\r]|:(?=[0-9])", b"?", name)


def check_sample_names(checks, cyclops, data, folder):
    """Any name of what is called leaves the profile as it is with a plain one. LLVM's own reader agrees, where it is there."""
    root = os.path.join(folder, "sample-root")
    program = "opt/kernels/gather"
    os.makedirs(os.path.dirname(os.path.join(root, program)))

    def profile_of(name):
        small_elf.rename(os.path.join(data, "root", program), os.path.join(root, program), lambda old: name if old == b"gather" else old)
        return run(cyclops, "export", "--format", "autofdo", "--symfs", root, os.path.join(data, "callers.data"))

    plain = profile_of(b"gather")
    checks.expect(b"gather:2" in plain, f"sample profile: no call of gather: {plain}")
    reader = shutil.which("llvm-profdata-19") or shutil.which("llvm-profdata")
    for name in SAMPLE_NAMES:
        ours = profile_of(name)
        wanted = re.sub(rb"(?<=\d )gather(?=:\d)", lambda _: sample_name(name), plain)
        checks.expect(ours == wanted, f"sample profile of a call of {name[:30]}: {ours}, wanted {wanted}")
        checks.count("sample profiles: names")
        if reader is None:
            continue
        done = subprocess.run([reader, "show", "--sample", "/dev/stdin"], input=ours, capture_output=True, check=False)
        shows = done.stdout.count(b", calls: " + sample_name(name) + b":")
        checks.expect(done.returncode == 0 and shows == plain.count(b" gather:"), f"{reader}: {name[:30]}: {done.stderr[-200:]}{done.stdout[-200:]}")
        checks.count("sample profiles: read by llvm-profdata")


def bolt_name(name):
    """Of a function, as fdata has it."""
    return re.sub(rb"([ \\])", rb"\\\1", name).replace(b"\n", b"?")


def check_records(checks, cyclops, maker, folder):
    """Strange names in records, and in profiles for compilers: as many samples of each as `hot` has, and no line is ended."""
    path, options = os.path.join(folder, "records.data"), ("--symfs", "/")
    run(maker, "--output", path, "--records", 3000, "--samples", 3000, "--binary", os.path.join(folder, "prog"), "--symbols")
    rows = csv_rows(cyclops, "hot", "--all", "--format", "csv", *options, path)
    counts = {event: +collections.Counter({row["function"].replace("[unknown]", ""): int(row["samples"]) for row in rows if row["event"] == event})
              for event in ("cycles:u", "arm_spe")}
    for counter in counts.values():
        del counter[""]
    words = ("export", "--table", "samples", *options, path)
    found = {"csv": csv_rows(cyclops, *words, "--format", "csv"), "json": json.loads(run(cyclops, *words, "--format", "json"))["samples"]}
    prefix = os.path.join(folder, "records")
    run(cyclops, "export", "--format", "spe-parser", "--symbols", "-o", prefix, *options, path)
    found["spe-parser"] = [row for part in ("ldst", "br", "other") for row in
                           csv.DictReader(io.StringIO(pathlib.Path(f"{prefix}-{part}.csv").read_bytes().decode(), newline=""))]
    for name, records in found.items():
        seen = collections.Counter(row.get("symbol") or "" for row in records if row.get("event") == "cycles:u" or name == "spe-parser")
        del seen[""]
        expected = merged(counts["arm_spe" if name == "spe-parser" else "cycles:u"], shown if name == "json" else str)
        seen = merged(seen, shown) if name == "json" else seen
        checks.equal(f"strange names: {name}", sorted(seen.items()), sorted(expected.items()), "hot")
    lines = run(cyclops, "export", "--format", "bolt-pre-aggregated", *options, path).decode("ascii").splitlines()
    wrong = [line for line in lines if not re.fullmatch(r"B (?:X:)?[0-9a-f]+ (?:X:)?[0-9a-f]+ \d+ \d+|[FfrS] (?:X:)?[0-9a-f]+ (?:X:)?[0-9a-f]+ \d+", line)]
    checks.expect(lines and not wrong, f"strange names: lines of bolt-pre-aggregated: {wrong[:3]}")
    checks.count("strange names: lines of bolt-pre-aggregated", len(lines))
    lines = run(cyclops, "export", "--format", "bolt", *options, path).removesuffix(b"\n").split(b"\n")
    ends = [re.fullmatch(rb"[01] ((?:\\.|[^ \\])+) [0-9a-f]+ [01] ((?:\\.|[^ \\])+) [0-9a-f]+ \d+ \d+", line) for line in lines]
    checks.expect(lines and all(ends), f"strange names: lines of bolt: {[line for line, end in zip(lines, ends) if not end][:3]}")
    found = {end[i] for end in ends if end for i in (1, 2)} - {b"[unknown]"}
    known = {bolt_name(name) for name in NAMES}
    checks.expect(len(found) > len(known) / 2 and found <= known, f"strange names: bolt has {sorted(found - known)}")
    checks.count("strange names: bolt", len(found))


def main():
    words = [word for word in sys.argv[1:] if word != "--tools"]
    if len(words) < 3:
        sys.exit(__doc__)
    cyclops, maker, data = map(os.path.abspath, words[:3])
    formats, has_time = words[3:] or list(READERS), "--tools" in sys.argv
    checks = Checks()
    checks.equal("formats with a reader", sorted(READERS), sorted(set(export_formats(cyclops)) - set(NO_PROFILES)), "export")
    with tempfile.TemporaryDirectory() as folder:
        mixed, strange = os.path.join(folder, "mixed.data"), make_strange(maker, folder)
        run(maker, "--output", mixed, "--records", 4000, "--samples", 500, "--kernel-map")
        for path in sorted(map(str, [*pathlib.Path(data).glob("*.data"), *pathlib.Path(data).glob("samples/*.data")])):
            check_capture(checks, cyclops, path, formats, "--symfs", os.path.join(data, "root"))
        for path in [mixed, *real_captures()]:
            check_capture(checks, cyclops, path, formats)
        check_sums(checks, cyclops, strange, formats, "--symfs", "/")
        for path in [mixed, *real_captures()] if shutil.which("perf") and "perf-script" in formats else ():
            check_perf_script(checks, cyclops, path)
        check_records(checks, cyclops, maker, folder)
        check_sample_names(checks, cyclops, data, folder)
        check_tools(checks, cyclops, strange, formats, folder, has_time, "--symfs", "/")
        for path in (mixed, strange):
            check_determinism(checks, cyclops, path, formats, "--symfs", "/")
    checks.finish()


if __name__ == "__main__":
    main()
