# SPDX-License-Identifier: Apache-2.0
"""
libcyclops as it is delivered: the header in C11 and C++, macros that vanish, what the libraries export and
need, their output, and what cyclops says of it.

usage: measure.py [--update] CYCLOPS INCLUDE SHARED STATIC PROGRAM.C SCHEMA CC [CXX]

--update adds to the schema what the output has.
"""

import argparse
import csv
import json
import os
import pathlib
import re
import shlex
import subprocess
import tempfile

import harness
import schema
from harness import Checks

PAGES, CALLS = 1000, 10
# Of the environment of the program. The sanitizer's library would have to come first, and its own memory
# would be faults.
PLAIN = {"PATH": os.environ["PATH"], "LC_ALL": "C"}
C_FLAGS = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]


def compile_(compiler, *words, cwd=None):
    done = subprocess.run([*shlex.split(compiler), *map(str, words)], cwd=cwd, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode != 0:
        raise harness.Failed(f"{compiler} {' '.join(map(str, words))}: {done.stdout[-2000:]}")


def check_header(checks, given, work):
    """The header stands alone, in C and in C++, with the macros and without."""
    use = '#include "cyclops/measure.h"\nCYCLOPS_HANDLE(whole);\nvoid f(void);\nvoid f(void)\n{\n' \
          'CYCLOPS_HANDLE(m);\nCYCLOPS_OPEN(m, NULL);\nCYCLOPS_REGION(m, id, "r");\nif (sizeof(int) == 4)\n' \
          'CYCLOPS_BEGIN(m, id);\nelse\nCYCLOPS_THREAD_OPEN(m);\nCYCLOPS_END(m, id);\nCYCLOPS_SWITCH(m);\n' \
          'CYCLOPS_RESET(m);\nCYCLOPS_WRITE(m, "x", NULL);\nCYCLOPS_THREAD_CLOSE(m);\nCYCLOPS_CLOSE(m);\n}\n'
    for compiler, suffix, standards in (given.cc, "c", ("c11", "c17")), (given.cxx, "cc", ("c++11", "c++17", "c++20")):
        if compiler is None:
            continue
        (work / f"header.{suffix}").write_text(use)
        for standard in standards:
            for macros in [], ["-DCYCLOPS_MEASURE"]:
                compile_(compiler, f"-std={standard}", *C_FLAGS, *macros, "-I", given.include, "-c", f"header.{suffix}",
                         "-o", "header.o", cwd=work)
                checks.count("compilations of the header")


def check_vanishing(checks, given, work):
    """The object file of a program without CYCLOPS_MEASURE is that of the program without the lines."""
    text = given.program.read_text()
    without = re.sub(r"^[ \t]*(CYCLOPS_\w+\(.*|#include \"cyclops/measure.h\")$", "", text, flags=re.MULTILINE)
    checks.expect(without.count("\n") == text.count("\n") and "CYCLOPS" not in without.split("*/", 2)[2],
                  "the lines could not be taken out")
    objects = []
    for name, source, macros in ("with", text, []), ("without", without, []), ("measured", text, ["-DCYCLOPS_MEASURE"]):
        (work / name).mkdir()
        (work / name / "program.c").write_text(source)
        for level in "-O0", "-O2":
            compile_(given.cc, level, *macros, "-I", given.include, "-c", "program.c", "-o", f"program{level}.o",
                     cwd=work / name)
        objects.append([(work / name / f"program{level}.o").read_bytes() for level in ("-O0", "-O2")])
    checks.expect(objects[0] == objects[1], "the macros leave something behind")
    checks.expect(objects[0] != objects[2], "the macros do nothing")
    checks.count("object files compared", 6)


def names_of(*command):
    lines = harness.run(*command).decode().splitlines()
    return {line.split()[2].split("@")[0] for line in lines if len(line.split()) == 3 and line.split()[1] in "TDBRW"}


def check_names(checks, given, is_sanitized):
    """What the libraries export is what the header declares; the shared one needs the C library only."""
    header = (given.include / "cyclops/measure.h").read_text()
    declared = set(re.findall(r"\b(cyclops_\w+)\(", re.sub(r"/\*(?s:.*?)\*/|#define.*", "", header)))
    exported = names_of("nm", "-D", "--defined-only", given.shared)
    checks.expect(exported == declared, f"exported {sorted(exported ^ declared)}")
    in_static = {name for name in names_of("nm", "-g", "--defined-only", given.static)
                 if not name.startswith(("__asan", "__tsan", "__ubsan", "asan.", "tsan."))}
    checks.expect(in_static == declared or is_sanitized, f"in the static library {sorted(in_static ^ declared)}")
    needed = re.findall(r"NEEDED.*\[(.*)\]", harness.run("readelf", "-d", given.shared).decode())
    checks.expect(all(name.startswith(("libc.so", "ld-linux")) for name in needed) or is_sanitized, f"needs {needed}")
    checks.count("names", len(exported) + len(in_static))


def run_program(program, out, events, pages=PAGES, **environment):
    return subprocess.run([program, str(pages), str(CALLS)], check=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env={**PLAIN, "CYCLOPS_OUT": str(out), "CYCLOPS_EVENTS": events, **environment})


def plain(value):
    return {"true": True, "false": False}.get(value, value)


def check_csv(checks, path, answer):
    """csv has the tables and cells of json."""
    tables, name = {}, None
    for line in path.read_text().splitlines():
        if line.startswith("# table "):
            name = line.removeprefix("# table ")
            tables[name] = []
        else:
            tables[name].append(line)
    for name, lines in tables.items():
        rows = list(csv.DictReader(lines))
        columns = list(answer["columns"][name])
        checks.expect(lines[0].split(",") == columns, f"csv {name}: {lines[0]}")
        for ours, theirs in zip(rows, answer[name]):
            names = {column for column in columns if ours[column] != ""}
            checks.expect(names == set(theirs), f"csv {name}: {ours}, json {theirs}")
        checks.expect(len(rows) == len(answer[name]) or name == "histograms", f"{name}: {len(rows)} rows")
        checks.count("rows of csv", len(rows))


def check_output(checks, given, program, work, is_sanitized):
    done = run_program(program, work / "out.json", "page-faults,task-clock")
    checks.expect(done.stdout == b"" and done.stderr == b"", f"the library printed {done}")
    answer = json.loads((work / "out.json").read_text())
    rows = {(row["region"], row["event"]): row for row in answer["regions"]}
    if rows[("load", "page-faults")]["state"] != "counted":
        harness.skip("events cannot be counted here: " + answer["run"][0].get("why", ""))
    load, part = rows[("load", "page-faults")], rows[('part, "quoted"', "page-faults")]
    checks.expect(PAGES <= part["count"] <= PAGES + 2 * CALLS or is_sanitized, f"faults: {part}")
    checks.expect(load["exclusive"] + part["count"] == load["count"], f"exclusive: {load}, {part}")
    checks.expect(part["calls"] == CALLS and part["parent"] == "load" and "parent" not in load, f"calls: {part}")
    time = rows[('part, "quoted"', "duration_time")]
    checks.expect(time["min"] <= time["p50"] <= time["p90"] <= time["p99"] <= time["max"], f"quantiles: {time}")
    for region, event in rows:
        row = rows[(region, event)]
        if "counted_calls" in row:
            calls = sum(bucket["calls"] for bucket in answer["histograms"]
                        if (bucket["region"], bucket["event"]) == (region, event))
            checks.expect(calls == row["counted_calls"], f"histogram: {calls} calls, {row}")
    of_schema = schema.Schema(given.schema, "measure")
    if given.update:
        schema.update(of_schema, answer)
        of_schema.write()
        return
    schema.check_json(checks, of_schema, answer, "measure")
    # Another run, so other counts.
    run_program(program, work / "out.csv", "page-faults,task-clock")
    check_csv(checks, work / "out.csv", answer)
    run_program(program, work / "out-%p.txt", "page-faults,nonsense")
    text = next(work.glob("out-*.txt")).read_text()
    checks.expect("there is no event 'nonsense' here" in text and "page-faults" in text, text)
    # minus_bias and mode are refused in words, and the program goes on
    run_program(program, work / "user.json", "page-faults", CYCLOPS_MODE="user")
    why = json.loads((work / "user.json").read_text())["run"][0]["why"]
    checks.expect("can only be read by a call" in why, why)


def ask(cyclops, *words):
    done = subprocess.run([cyclops, *map(str, words)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, env=harness.ENVIRONMENT, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def check_questions(checks, cyclops, program, work):
    """What cyclops says of two runs, of which the second touches a fifth more pages."""
    before, after = work / "before.json", work / "after.json"
    run_program(program, before, "page-faults,task-clock")
    run_program(program, after, "page-faults,task-clock", pages=PAGES * 6 // 5)
    written = {(row["region"], row["event"]): row for row in json.loads(before.read_text())["regions"]}
    before_csv, after_csv = work / "before.csv", work / "after.csv"
    run_program(program, before_csv, "page-faults,task-clock")
    run_program(program, after_csv, "page-faults,task-clock", pages=PAGES * 6 // 5)
    status, out, err = ask(cyclops, "stat", "--import", before_csv, "--by-region", "--format", "json")
    rows = {row["region"]: row for row in json.loads(out)["regions"]} if status == 0 else {}
    checks.expect({name: row["calls"] for name, row in rows.items()} == {"load": 1, 'part, "quoted"': CALLS},
                  f"--by-region of csv: {status}, {out}, {err}")
    status, out, err = ask(cyclops, "stat", "--import", before_csv, "--region", 'part, "quoted"', "--format", "json")
    faults = json.loads(out)["events"]["page-faults"]["count"] if status == 0 else 0
    checks.expect(abs(faults - written[('part, "quoted"', "page-faults")]["count"]) <= 2 * CALLS, f"csv: {out}, {err}")
    status, out, err = ask(cyclops, "stat", "--import", before, "--by-region", "--format", "json")
    rows = {row["region"]: row for row in json.loads(out)["regions"]} if status == 0 else {}
    checks.expect(set(rows) == {"load", 'part, "quoted"'}, f"--by-region: {status}, {out}, {err}")
    for name, row in rows.items():
        time = written[(name, "duration_time")]
        checks.expect((row["calls"], row["time_ns"], row["exclusive_ns"]) ==
                      (time["calls"], time["count"], time["exclusive"]), f"--by-region: {row}, {time}")
    checks.expect(abs(sum(row["share"] for row in rows.values()) - 1) < 1e-9, f"shares: {rows}")
    for words, region in ([], "load"), (["--region", 'part, "quoted"'], 'part, "quoted"'):
        status, out, err = ask(cyclops, "stat", "--import", before, *words, "--format", "json")
        events = json.loads(out)["events"] if status == 0 else {}
        for event in "page-faults", "task-clock":
            wanted = written[(region, event)]["count"]
            checks.expect(events.get(event, {}).get("count") == wanted, f"{words} {event}: {events}, not {wanted}")
    for files, condition, wanted in (((before, after), "region:load:page-faults > 3%", 3),
                                     ((before, after), "region:load:page-faults > 30%", 0),
                                     ((after, before), "region:load:page-faults > 3%", 0),
                                     ((before, after), "region:load:calls > 0", 0),
                                     ((before_csv, after_csv), "region:load:page-faults > 3%", 3),
                                     ((before_csv, after_csv), "region:load:page-faults > 30%", 0),
                                     ((before, after_csv), "region:load:page-faults > 3%", 3),
                                     ((before, after), "region:loud:calls > 0", 1)):
        status, out, err = ask(cyclops, "diff", *files, "--fail-if", condition)
        checks.expect(status == wanted, f"{condition}: exit status {status}, not {wanted}: {out} {err}")
    for words, message in ((["--region", "lod"], "did you mean load"), (["--by-region", "--all", "-e", "x"], "of its own")):
        status, out, err = ask(cyclops, "stat", "--import", before, *words)
        checks.expect(status in (1, 2) and message in err, f"{words}: {status}, {err}")
    checks.count("questions", 15)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--update", action="store_true")
    for name in "cyclops", "include", "shared", "static", "program", "schema":
        parser.add_argument(name, type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("cc")
    parser.add_argument("cxx", nargs="?")
    given = parser.parse_args()
    checks = Checks()
    is_sanitized = any(b"san_init" in line for line in
                       harness.run("nm", "-D", given.shared).splitlines())
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        check_header(checks, given, work)
        check_vanishing(checks, given, work)
        check_names(checks, given, is_sanitized)
        for library in given.static, given.shared:
            if is_sanitized:
                continue
            program = work / f"program-{library.name}"
            compile_(given.cc, "-DCYCLOPS_MEASURE", "-I", given.include, given.program, library,
                     f"-Wl,-rpath,{library.parent}", "-o", program)
            check_output(checks, given, program, work, is_sanitized)
            check_questions(checks, given.cyclops, program, work)
            for left in work.glob("out-*.txt"):
                left.unlink()
    checks.finish()


if __name__ == "__main__":
    main()
