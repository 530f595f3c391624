#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Profiles of `cyclops export` as the programs read them that they are made for: what each function has there is what
it has in `hot`. usage: profile_readers.py CYCLOPS DATA [READER...]

Firefox Profiler (its own code, @firefox-devtools/profiler-cli of npm), speedscope (of npm, in headless Chromium),
OpenTelemetry's message types (opentelemetry-proto of pip), go tool pprof with -top and -raw, callgrind_annotate, and inferno and
FlameGraph's scripts where they are in PATH. Readers that cannot be had are named. On captures of DATA, and on those in
the folder that the variable CYCLOPS_CAPTURES names.
"""

import base64
import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

import browser
import profiles
from harness import ENVIRONMENT, Checks, Failed, real_captures, run, skip

PACKAGES = {"firefox": ("@firefox-devtools/profiler-cli@0.10.0", "@firefox-devtools/profiler-cli/dist/profiler-cli.js"),
            "speedscope": ("speedscope@1.25.0", "speedscope/dist/release/index.html")}
TRIES = 6000  # until a server of the reader answers, or a page is drawn; each takes a tenth of a second, and a machine may be very busy
AGAIN = 20  # times that a request is made


def installed(folder, reader):
    """What of npm the reader is; None if it cannot be had."""
    package, path = PACKAGES[reader]
    path = folder / "node_modules" / path
    if not path.exists() and shutil.which("npm") and shutil.which("node"):
        subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--prefix", folder, package], cwd=folder, check=False,
                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return path if path.exists() else None


class Firefox:
    """The Firefox Profiler's own code: it upgrades the file to its version, and makes the call tree."""

    def __init__(self, folder):
        self.program = installed(folder, "firefox")
        self.environment = {**os.environ, "HOME": str(folder)}

    def ask(self, *words):
        done = subprocess.run(["node", self.program, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, env=self.environment, check=False)
        return done.stdout if done.returncode == 0 else None

    def functions(self, thread):
        for _ in range(AGAIN):  # it gives up a request soon, on a busy machine
            functions = self.ask("thread", "functions", "--thread", thread, "--limit", "0", "--include-idle", "--json")
            if functions:
                return json.loads(functions)["functions"]
        raise Failed(f"firefox: it does not say the functions of {thread}")

    def sums(self, path):
        self.ask("load", path)  # it does not wait long for its server, on a busy machine
        threads = None
        for _ in range(TRIES):
            threads = self.ask("thread", "list", "--json")
            if threads:
                break
            time.sleep(0.1)
        if not threads:
            raise Failed("firefox: it does not load the profile")
        try:
            sums = collections.Counter()
            for thread in json.loads(threads)["threads"]:
                for function in self.functions(thread["threadHandle"]):
                    sums[function["name"]] += function["selfSamples"]
            return +sums
        finally:
            self.ask("stop", "--all")


class Speedscope:
    """The page in a browser: what its list of functions shows of the profile that it shows first."""

    def __init__(self, folder):
        self.page = installed(folder, "speedscope") if browser.find() else None
        self.program = self.page
        self.folder = folder

    def sums(self, path):
        script = self.folder / "profile.js"
        data = pathlib.Path(path).read_bytes().replace(b'"unit":"nanoseconds"', b'"unit":"none"')  # times are shown rounded
        script.write_text(f"speedscope.loadFileFromBase64('profile.json', '{base64.b64encode(data).decode()}')")
        with browser.Browser() as page:
            page.size(1280, 4000)
            page.ask("Page.navigate", url=f"{self.page.as_uri()}#localProfilePath={script}")
            rows = self.rows(page)
        if not rows:
            raise Failed("speedscope: it shows no functions")
        return +collections.Counter({name: weight for name, weight in rows})

    @staticmethod
    def rows(page):
        """The list is drawn when the view of functions was chosen; its head comes before its rows."""
        for _ in range(TRIES):
            words = page.run("document.body ? document.body.innerText : ''")
            if "Symbol Name" in words:
                rows = [(name, int(own.replace(",", ""))) for own, name in
                        re.findall(r"\n\t([\d,]+) \([\d.<>]+%\)\n\t(.*)", words)]
                if rows:
                    return rows
                time.sleep(0.1)
                continue
            page.run("""[...document.querySelectorAll('div')].filter(
                (one) => one.children.length < 2 && one.innerText && one.innerText.trim().endsWith('Sandwich')).forEach((one) => one.click())""")
            time.sleep(0.1)
        return []


OTLP_PROGRAM = """
import collections, json, sys
from opentelemetry.proto.profiles.v1development import profiles_pb2
data = profiles_pb2.ProfilesData()
data.ParseFromString(open(sys.argv[1], "rb").read())
if data.SerializeToString() and len(data.SerializeToString()) > 2 * data.ByteSize():
    sys.exit("fields that are not known")
tables, out = data.dictionary, {}
for resource in data.resource_profiles:
    for scope in resource.scope_profiles:
        for profile in scope.profiles:
            sums = out.setdefault(tables.string_table[profile.sample_type.type_strindex], collections.Counter())
            for sample in profile.samples:
                leaf = tables.location_table[tables.stack_table[sample.stack_index].location_indices[0]]
                if leaf.lines:
                    name = tables.string_table[tables.function_table[leaf.lines[-1].function_index].name_strindex]
                elif leaf.mapping_index:
                    name = "module " + tables.string_table[tables.mapping_table[leaf.mapping_index].filename_strindex]
                else:
                    name = "[unknown]"
                sums[name] += sum(sample.values)
json.dump(out, sys.stdout)
"""


class Otlp:
    """The types that opentelemetry-proto's own compiler made of its messages."""

    def __init__(self, folder):
        self.program = folder / "venv/bin/python3"
        made = subprocess.run([sys.executable, "-m", "venv", folder / "venv"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        if made.returncode == 0:
            made = subprocess.run([folder / "venv/bin/pip", "install", "--quiet", "opentelemetry-proto==1.45.2"],
                                  stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        if made.returncode:
            self.program = None

    def sums(self, path):
        found = json.loads(run(self.program, "-c", OTLP_PROGRAM, path))
        first = next(iter(found), " ").rsplit(" samples", 1)[0]
        sums = collections.Counter()
        for name, weight in (found.get(f"{first} cycles" if first == "spe" else first) or found.get(f"{first} samples", {})).items():
            module = profiles.MODULES.get(name.removeprefix("module "))
            sums[f"[{module}]" if name.startswith("module ") else name] += weight
        return +sums


class Folded:
    """A program that draws folded stacks: the weights of its frames, less those that stand on them."""

    def __init__(self, program, *options):
        self.program, self.options = shutil.which(program), options

    def sums(self, path):
        drawn = subprocess.run([self.program, *self.options, path], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        found = re.search(r"\ball \(([\d,]+) \w+, 100%\)", drawn.stdout.decode(errors="replace"))
        if drawn.returncode or not found:
            raise Failed(f"{self.program}: {drawn.stderr[-300:]}")
        return collections.Counter({"all": int(found[1].replace(",", ""))})


class Collapsed:
    """A program that reads lines of perf script; its weights are numbers of samples."""

    def __init__(self, program):
        self.program = shutil.which(program)

    def sums(self, path):
        lines = run(self.program, path).decode(errors="replace").splitlines()
        return collections.Counter({"samples": sum(int(line.rsplit(" ", 1)[1]) for line in lines)})


class Annotated:
    """callgrind_annotate: the sum that it shows."""

    def __init__(self):
        self.program = shutil.which("callgrind_annotate")

    def sums(self, path):
        words = run(self.program, path).decode(errors="replace")
        events = re.search(r"Events shown:\s+(.*)", words)[1].split()
        totals = re.search(r"(.*)PROGRAM TOTALS", words)[1]
        numbers = [int(number.replace(",", "")) for number in re.findall(r"([\d,]+) \(", totals)]
        index = next(events.index(name) for name in ("cycles", "period", "samples") if name in events)
        return collections.Counter({"all": numbers[index]})


class Pprof:
    """go tool pprof: what its table of functions shows."""

    def __init__(self, folder):
        self.program = shutil.which("go")
        self.environment = {**ENVIRONMENT, "HOME": str(folder)}

    def sums(self, path):
        words = [self.program, "tool", "pprof", "-top", "-nodecount=1000000", "-nodefraction=0", "-edgefraction=0", "-unit=ns", path]  # with raw, times are 0
        done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=self.environment, check=False)
        found = re.search(r"Showing nodes accounting for ([\d.]+)\w*, 100% of ([\d.]+)", done.stdout.decode(errors="replace"))
        if done.returncode or not found:
            raise Failed(f"pprof: {done.stderr[-300:]}{done.stdout[:300]}")
        return collections.Counter({"all": round(float(found[2]))})


class PprofRaw(Pprof):
    """go tool pprof -raw: what each function has of the value that is shown first."""

    def sums(self, path):
        done = subprocess.run([self.program, "tool", "pprof", "-raw", path], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              env=self.environment, check=False)
        words = done.stdout.decode(errors="replace")
        if done.returncode or "\nSamples:\n" not in words:
            raise Failed(f"pprof -raw: {done.stderr[-300:]}{words[:300]}")
        samples, rest = words.split("\nSamples:\n")[1].split("\nLocations\n")
        locations, mappings = rest.split("\nMappings\n")
        names, types = self.names(locations, mappings), samples.split("\n")[0].split()
        index = next((i for i, kind in enumerate(types) if kind.endswith("[dflt]")), 0)
        sums = collections.Counter()
        for values, leaf in re.findall(r"^([\d ]+): (\d+)", samples, re.M):
            sums[names[leaf]] += int(values.split()[index])
        return +sums

    @staticmethod
    def names(locations, mappings):
        """By location: the function that is there, not what is inlined into it; or the file."""
        files = dict(re.findall(r"^(\d+): 0x[^ ]* (.*?) (?:[0-9a-f]* )?(?:\[\w\w\])*$", mappings, re.M))
        names = {}
        for number, words in re.findall(r"^ *(\d+): 0x[0-9a-f]+ (.*(?:\n {13}.*)*)", locations, re.M):
            mapping = re.match(r"M=(\d+) ", words)
            name = re.fullmatch(r"(.*) \S*:\d+(?::\d+)? s=-?\d+", re.sub(r"^M=\d+ ", "", words.split("\n")[-1].strip(" ")))
            module = profiles.MODULES.get(files[mapping[1]]) if mapping else None
            names[number] = name[1] if name else f"[{module}]" if mapping else "[unknown]"
        return names


# FlameGraph's script, where it is not in PATH: in a package of Debian's.
FLAMEGRAPH = next(filter(os.path.exists, ["/usr/share/perl5/Devel/NYTProf/flamegraph.pl"]), "flamegraph.pl")


def readers(folder):
    """By name: its format, and the reader."""
    return {
        "firefox": ("firefox", lambda: Firefox(folder)),
        "speedscope": ("speedscope", lambda: Speedscope(folder)),
        "otlp": ("otlp", lambda: Otlp(folder)),
        "pprof": ("pprof", lambda: Pprof(folder)),
        "pprof-raw": ("pprof", lambda: PprofRaw(folder)),
        "callgrind_annotate": ("callgrind", Annotated),
        "inferno-flamegraph": ("folded", lambda: Folded("inferno-flamegraph")),
        "flamegraph.pl": ("folded", lambda: Folded(shutil.which("flamegraph.pl") or FLAMEGRAPH)),
        "inferno-collapse-perf": ("perf-script", lambda: Collapsed("inferno-collapse-perf")),
        "stackcollapse-perf.pl": ("perf-script", lambda: Collapsed("stackcollapse-perf.pl")),
    }


def leaves_of_firefox(data):
    """Weights of the innermost functions, inlined ones too."""
    sums = collections.Counter()
    for thread in json.loads(data)["threads"]:
        frames, functions = thread["stackTable"]["frame"], thread["frameTable"]["func"]
        for stack, weight in zip(thread["samples"]["stack"], thread["samples"]["weight"]):
            sums[thread["stringArray"][thread["funcTable"]["name"][functions[frames[stack]]]]] += weight
    return +sums


def expected_sums(cyclops, name, format_name, path, data, options):
    """What the reader must show: of `hot`; of viewers that have inlined functions apart, what the file has."""
    if name == "firefox":
        return leaves_of_firefox(data)
    if name == "speedscope":
        file = json.loads(data)
        shown = file["profiles"][file["activeProfileIndex"]]
        frames, sums = file["shared"]["frames"], collections.Counter()
        for stack, weight in zip(shown["samples"], shown["weights"]):
            sums[frames[stack[-1]]["name"]] += weight
        return +sums
    if format_name == "perf-script":  # of several events without call chains these scripts lose most
        events = [found[1] for found in re.finditer(r"^ *\S.*?\s+-?\d+ .*?\d\.\d{6}:\s+(\S.*?): ", data.decode(errors="replace"), re.M)]
        return collections.Counter({"samples": len(events)} if len(set(events)) == 1 else {})
    sums = profiles.hot_sums(cyclops, path, *options)
    if name in ("otlp", "pprof-raw"):
        return profiles.merged(sums, profiles.shown)
    return collections.Counter({"all": sum(sums.values())})


def check(checks, cyclops, path, name, format_name, reader, folder, *options):
    profiles.MODULES.clear()
    profiles.MODULES.update((row["path"], row["module"]) for row in
                            profiles.csv_rows(cyclops, "hot", "--by", "module", "--all", "--format", "csv", *options, path))
    out = folder / f"profile.{format_name}"
    out.unlink(missing_ok=True)
    fields = ("--fields", "comm,tid,cpu,time,event,ip,sym,dso") if format_name == "perf-script" else ()  # scripts count samples then
    done = subprocess.run([cyclops, "export", "--format", format_name, "-o", out, *fields, *options, path], stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=ENVIRONMENT, check=False)
    if not out.exists() or done.returncode:
        return
    expected = expected_sums(cyclops, name, format_name, path, out.read_bytes(), options)
    if not expected:
        return
    found = reader.sums(str(out))
    if name == "firefox":  # one event, as in `hot`
        total = sum(profiles.hot_sums(cyclops, path, *options).values())
        checks.equal(f"{os.path.basename(path)}: {name}, all", [sum(found.values())], [total], "hot")
    checks.equal(f"{os.path.basename(path)}: {name}", sorted(found.items()), sorted(expected.items()), "hot")
    checks.count(f"{name}: captures")


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    cyclops, data = map(os.path.abspath, sys.argv[1:3])
    wanted = sys.argv[3:]
    checks, tried = Checks(), 0
    with tempfile.TemporaryDirectory(prefix="cyclops-readers-") as name:
        folder = pathlib.Path(name)
        for name, (format_name, make) in readers(folder).items():
            if wanted and name not in wanted:
                continue
            reader = make()
            if reader.program is None:
                print(f"not tried: {name}, which is not there")
                continue
            tried += 1
            for path in sorted(map(str, [*pathlib.Path(data).glob("*.data"), *pathlib.Path(data).glob("samples/*.data")])):
                check(checks, cyclops, path, name, format_name, reader, folder, "--symfs", os.path.join(data, "root"))
            for path in real_captures():
                check(checks, cyclops, path, name, format_name, reader, folder)
    if tried == 0:
        skip("none of the readers is there")
    checks.finish()


if __name__ == "__main__":
    main()
