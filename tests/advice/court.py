#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Is the advice right? Programs of known cause are judged by what the remedy gains.

usage: court.py [options] CYCLOPS [PROGRAM...]

court.json lists the programs. Each is built for AArch64 and run on the machine model. `run --model`, `report`
and `stat --import` answer; what each says first is applied: with a twin of the source (-DFIXED), or with a
setting of the model. The modelled time of the result is compared. A first remedy is right if it gains at least
5 % of the time, and at least half of what the best idealisation of `model --what-if` gains. For an efficient
program silence is right. Beside the three answers stands Arm's published method, applied to the counts by
thresholds (by_hand.py).

--small      only the programs that are marked small, without --what-if; the passes of court.json must hold, and the
             gain that `run --model` shows has to be what the remedy gains, within ten points
--renamed    builds each program (of small ones three) again with other names of files and symbols, and wants the same answers
--markdown FILE  puts the tables into a page, between the lines that name this program
--json FILE      writes everything that was found
--keep DIR       keeps what the model said in DIR, and takes it from there if it is the same model: to try other advice
"""

import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shutil
import statistics
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "e2e"))

from harness import Failed, need, run  # noqa: E402
import by_hand  # noqa: E402

COMPILER = "aarch64-linux-gnu-gcc"
FLAGS = ["-O2", "-g", "-static", "-Wall", "-Wextra", "-pthread"]
ADVISERS = ("run", "report", "stat", "by hand")
# Part: its key in court.json, which is its folder, and its title.
PARTS = {
    "open": ("programs", "written here"),
    "blind": ("blind", "written blind"),
    "blind2": ("blind2", "written blind, second set"),
    "blind3": ("blind3", "written blind, third set"),
    "predictions": ("predictions", "written for predictions"),
}
NEW_PART = "predictions"  # was written before `instructions-F` was
TWIN = "twin:-DFIXED"
LEAST_GAIN = 0.05  # of the modelled time
NO_GAIN = 0.01  # nothing that gains less may be said first
SAME_WORK = 0.1  # an idealisation says what the same instructions would gain: so much more or fewer are as many
LEAST_PART = 0.5  # of the best idealisation
SHOWN_ERROR = 0.1  # the gain that `run` shows is no farther from what the remedy gains
# Each takes a run. l1d is at least what the other idealisations of data in caches are; limits of every core (width,
# window) are left out: where only these gain, the program has to execute fewer instructions.
RESOURCES = ("l1d", "page-walks", "branch-prediction", "instruction-side", "coherence", "ordering", "arithmetic",
             "forwarding")

# Kinds of findings that say "at most", and the idealisation of what they bound.
BOUNDED = {
    **{kind: "l1d" for kind in ("l2-bound", "llc-bound", "dram-latency", "dram-bandwidth", "memory-bound", "late-prefetch",
                                "store-bound")},
    "tlb-walks": "page-walks", "mispredictions": "branch-prediction", "division": "division",
    "dependency-chain": "arithmetic-latency", "store-forwarding": "forwarding",
}


class Program:
    """A line of court.json, with what is common to all."""

    def __init__(self, entry, court, folder, part):
        self.name, self.cause = entry["name"], entry["cause"]
        self.source = folder / f"{self.name}.c"
        self.part = part
        self.apply = {**court["settings"], **entry.get("apply", {})}
        # What removes the cause: the twin; a setting of the model where there is none.
        self.cure = TWIN if TWIN in self.apply.values() else next(iter(court["settings"].values()))
        self.is_efficient = entry.get("efficient", False)
        self.is_small = entry.get("small", False)
        self.what_if = entry.get("what_if")
        self.known = entry.get("known_failures", {})
        self.known_exceeded = entry.get("known_exceeded", {})
        self.known_shown = entry.get("known_shown")
        self.remedies = court["remedies"]


def read_programs(only):
    court = json.loads((HERE / "court.json").read_text())
    programs = [Program(entry, court, HERE / key, part) for part, (key, _) in PARTS.items() for entry in court[key]]
    unknown = set(only) - {program.name for program in programs}
    if unknown:
        sys.exit(f"court.json has no program {', '.join(sorted(unknown))}")
    return [program for program in programs if not only or program.name in only]


def build(source, to, *flags):
    run(COMPILER, *FLAGS, *flags, source, "-o", to, "-lm")
    return to


def defined_symbols(source, folder, flags):
    """Functions and variables that the program defines, but main."""
    unit = folder / "names.o"
    run(COMPILER, *FLAGS[:2], "-c", *flags, source, "-o", unit)
    lines = [line.split() for line in run("nm", unit).decode().splitlines()]
    names = {re.sub(r"\..*", "", line[-1]) for line in lines if len(line) == 3 and line[1] in "tTdDbBrRC"}
    return sorted(name for name in names if name not in ("main", "") and name[0] != "$")


def model_of(cyclops, source):
    """What kept times depend on: the model and the program."""
    parts = [pathlib.Path(cyclops).parent / "model" / "cyclops-model.so", source]
    return hashlib.sha256(b"".join(part.read_bytes() for part in parts if part.exists())).hexdigest()


class Case:
    """One program in a folder of its own: builds it, runs it, keeps what was measured."""

    def __init__(self, cyclops, program, folder):
        self.cyclops, self.program, self.folder = cyclops, program, folder
        self.kept = folder / "kept.json"
        folder.mkdir(parents=True, exist_ok=True)
        self.model = model_of(cyclops, program.source)
        known = json.loads(self.kept.read_text()) if self.kept.exists() else {}
        if known.get("model") != self.model:
            known = {}
        self.times, self.gains = known.get("times", {}), known.get("gains", {})
        self.instructions = known.get("instructions", {})
        self.bounds, self.shown = {}, None

    def keep(self):
        self.kept.write_text(json.dumps({"model": self.model, "times": self.times, "gains": self.gains,
                                         "instructions": self.instructions}))

    def resources(self):
        """The idealisations to try: those of all programs, and what the remedy comes closest to."""
        return list(dict.fromkeys([*RESOURCES, *([self.program.what_if] if self.program.what_if else [])]))

    def time_ns(self, application):
        """Modelled time with a twin (-DFIXED...) or a setting of the model."""
        if application not in self.instructions:
            kind, _, value = application.partition(":")
            twin = [value] if kind == "twin" else []
            program = build(self.program.source, self.folder / "applied", *twin)
            settings = [word for setting in value.split(",") for word in ("--set", setting)] if kind == "set" else []
            counts = self.folder / "applied.json"
            run(self.cyclops, "model", *settings, "-o", self.folder / "applied.data", "--counts", counts, "--", program,
                cwd=self.folder)
            self.take(application, json.loads(counts.read_text()))
        return self.times[application]

    def take(self, application, counts):
        self.times[application] = counts["time_ns"]
        self.instructions[application] = counts["events"]["INST_RETIRED"]["count"]

    def work(self, application):
        """How many instructions are executed with it, by those of the program as it is."""
        return self.instructions[application] / self.instructions["as it is"]

    def question(self):
        """The idealisation of the cause, together with as many instructions as the remedy executes."""
        names, at, function = self.program.what_if.partition("@")
        return "+".join(filter(None, [names, f"instructions-{self.work(self.program.cure):.2f}"])) + at + function

    def predict(self, program):
        """The gain of that."""
        name = self.question()
        if name not in self.gains:
            said = run(self.cyclops, "model", f"--what-if={name}", "--format", "json", "-o", self.folder / "asked.data", "--",
                       program, cwd=self.folder)
            rows = json.loads(said[said.index(b'{"schema"'):])["what_if"]  # behind what the program prints
            self.gains[name] = next(row["gain"] for row in rows if row["name"] == name)
        return self.gains[name]

    def gain(self, application):
        return 1 - self.time_ns(application) / self.time_ns("as it is")

    def applied(self):
        """What was applied: its gain, and how many of the instructions it executes."""
        return {name: {"gain": self.gain(name), "work": self.work(name)} for name in sorted(self.instructions) if name != "as it is"}


def answer(cyclops, case, name, *words):
    """The json of a command."""
    out = case.folder / f"{name}.out"
    run(cyclops, *words[:1], "--format", "json", "-o", out, *words[1:], cwd=case.folder)
    return json.loads(out.read_text())


def first_of(findings, remedies):
    """The first finding that says what to do. Others say where only, or how to measure."""
    for finding in findings:
        if "remedy_id" in finding and remedies.get(finding["remedy_id"]) != []:
            return {key: finding.get(key) for key in ("kind", "remedy_id", "function", "module", "share", "what_if")}
    return None


def shown_gain(findings, remedies):
    """The gain that the first finding with a remedy shows; None: it shows none."""
    first = next((finding for finding in findings if "remedy_id" in finding and remedies.get(finding["remedy_id"]) != []), {})
    return first.get("predicted_gain")


def bounds_of(findings):
    """What findings give to each idealisation at most, with the error of their samples: those of a cause together."""
    out = {}
    for finding in findings:
        resource = BOUNDED.get(finding["kind"])
        if resource is not None and finding.get("share_trust") == "at-most" and finding.get("share_of") == "time":
            out[resource] = out.get(resource, 0) + finding["share"] + finding.get("share_error", 0)
    return out


def ask(cyclops, case, program, has_what_if):
    """What the commands say first about one run of a program; keeps what the idealisations gain."""
    out, folder = case.folder / "run.json", f"{program.name}-files"
    missing = [name for name in case.resources() if name not in case.gains] if has_what_if else []
    ideal = ["--what-if=" + ",".join(missing)] if missing else []
    shutil.rmtree(case.folder / folder, ignore_errors=True)
    run(cyclops, "run", "--model", *ideal, "--folder", folder, "--format", "json", "-o", out, "--", program, cwd=case.folder)
    whole = json.loads(out.read_text())
    counts, remedies = case.folder / folder / "counts.json", case.program.remedies
    reported = answer(cyclops, case, "report", "report", case.folder / folder / "perf.data")["findings"]
    said = {
        "run": first_of(whole["findings"], remedies),
        "report": first_of(reported, remedies),
        "stat": first_of(answer(cyclops, case, "stat", "stat", "--import", counts)["findings"], remedies),
        "by hand": by_hand.first(json.loads(counts.read_text())),
    }
    if program.name == "program":
        case.shown = shown_gain(whole["findings"], remedies)
        case.take("as it is", json.loads(counts.read_text()))
        case.bounds = bounds_of(reported)
    case.gains.update({row["name"]: row["gain"] for row in whole.get("what_if", []) if row.get("gain") is not None})
    return said


def judge_efficient(said):
    return {"gain": None, "passed": said is None, "why": "" if said is None else "names a remedy for an efficient program"}


def judge(case, said, best):
    """Applies what was said first. Without --what-if, best is None and the half of it is not asked for."""
    program = case.program
    if program.is_efficient:
        return judge_efficient(said)
    if said is None:
        return {"gain": None, "passed": False, "why": "says no remedy"}
    actions = program.remedies.get(said["remedy_id"])
    if actions is None:
        return {"gain": None, "passed": False, "why": f"court.json knows no remedy {said['remedy_id']}"}
    action = next((action for action in actions if action in program.apply), None)
    if action is None:
        return {"gain": None, "passed": False, "why": "nothing to apply it to in this program"}
    gain = case.gain(program.apply[action])
    if gain < LEAST_GAIN:
        return {"gain": gain, "passed": False, "why": "gains nothing" if gain < NO_GAIN else "gains too little",
                "action": action}
    if best is not None and gain < LEAST_PART * best:
        return {"gain": gain, "passed": False, "why": "less than half of the best idealisation", "action": action}
    return {"gain": gain, "passed": True, "why": "", "action": action}


def same_answers(cyclops, case, said):
    """The advisers whose first remedy is another one when files and symbols have other names."""
    program = case.program
    names = defined_symbols(program.source, case.folder, [])
    source = case.folder / ("x" * len(program.source.stem) + ".c")
    source.write_bytes(program.source.read_bytes())
    other_names = {name: f"z{i}".ljust(len(name), "_") for i, name in enumerate(names)}
    own_names = {other: name for name, other in other_names.items()}
    renamed = build(source, case.folder / "renamed", *(f"-D{name}={other}" for name, other in other_names.items()))
    again = ask(cyclops, case, renamed, False)
    for finding in again.values():
        if finding and finding.get("module") == renamed.name:
            finding["module"] = "program"
        if finding and finding.get("function"):
            name, dot, clone = finding["function"].partition(".")  # copies of a function have a suffix
            finding["function"] = own_names.get(name, name) + dot + clone
    return [adviser for adviser in ADVISERS if again[adviser] != said[adviser]]


def try_program(options, program, folder):
    """All about one program, as a dict."""
    case = Case(options.cyclops, program, folder / program.part / program.name)
    binary = build(program.source, case.folder / "program")
    said = ask(options.cyclops, case, binary, not options.small)
    one_resource = [name for name in case.gains if name in RESOURCES]
    best = max(one_resource, key=case.gains.get) if one_resource else None
    result = {"name": program.name, "part": program.part, "cause": program.cause, "said": said, "what_if": case.gains,
              "best": best, "best_gain": case.gains.get(best), "efficient": program.is_efficient,
              "verdicts": {adviser: judge(case, said[adviser], case.gains.get(best)) for adviser in ADVISERS}}
    twins = {application for application in program.apply.values() if application.startswith("twin:")}
    result["twins"] = {twin: case.gain(twin) for twin in sorted(twins) if not options.small}
    if program.what_if is not None and not options.small:
        case.time_ns(program.cure)
        result["predicted"] = case.predict(binary)
    result["applied"] = case.applied()
    result["bounds"], result["shown"] = case.bounds, case.shown
    if program in options.renamed:
        result["renamed"] = same_answers(options.cyclops, case, said)
    case.keep()
    print(".", end="", file=sys.stderr, flush=True)
    return result


def percent(share):
    return "" if share is None else f"{100 * share:.1f} %"


def said_words(said):
    return "nothing" if said is None else f"{said['kind']}: {said['remedy_id']}"


def ranks(values):
    """Ranks from 1; equal values share the mean of theirs."""
    order = sorted(range(len(values)), key=values.__getitem__)
    out = [0.0] * len(values)
    i = 0
    while i < len(order):
        j = i
        while j < len(order) and values[order[j]] == values[order[i]]:
            j += 1
        for k in order[i:j]:
            out[k] = (i + j + 1) / 2
        i = j
    return out


def spearman(xs, ys):
    """Correlation of the ranks; None where one side does not vary."""
    if len(xs) < 3 or len(set(xs)) < 2 or len(set(ys)) < 2:
        return None
    return statistics.correlation(ranks(xs), ranks(ys))


def predictions(results, programs):
    """(predicted, applied, work) of programs whose cause an idealisation makes perfect: its gain, and what removing it does."""
    out = []
    for program, result in zip(programs, results):
        cured = result["applied"].get(program.cure)
        if program.what_if in result["what_if"] and cured:
            out.append((result["what_if"][program.what_if], cured["gain"], cured["work"]))
    return out


def predictions_with_work(results, programs):
    """The same, where the idealisation executes as many instructions as the remedy."""
    return [(result["predicted"], cured["gain"], cured["work"]) for program, result in zip(programs, results)
            for cured in [result["applied"].get(program.cure)] if "predicted" in result and cured]


def score_lines(results):
    lines = []
    for part in PARTS:
        some = [result for result in results if result["part"] == part]
        for adviser in ADVISERS if some else ():
            verdicts = [result["verdicts"][adviser] for result in some]
            useless = sum(verdict["gain"] is not None and verdict["gain"] < NO_GAIN for verdict in verdicts)
            lines.append(f"{part}: {adviser}: {sum(verdict['passed'] for verdict in verdicts)} of {len(some)} right; {useless} first "
                         "remedies gain less than 1 %")
    return lines


def prediction_line(title, found):
    errors = [abs(predicted - applied) for predicted, applied, _ in found]
    rank = spearman([predicted for predicted, _, _ in found], [applied for _, applied, _ in found])
    return (f"predicted against applied, {title}: {len(found)} programs, median error "
            f"{100 * statistics.median(errors):.1f} points, rank correlation {'not defined' if rank is None else f'{rank:.2f}'}")


def prediction_lines(results, programs):
    """Of all programs, and of those where the question is the same: no idealisation says what other instructions take."""
    found = predictions(results, programs)
    same = [row for row in found if abs(row[2] - 1) <= SAME_WORK]
    with_work = predictions_with_work(results, programs)
    pairs = [(program, result) for program, result in zip(programs, results) if result["part"] == NEW_PART]
    unseen = predictions_with_work([result for _, result in pairs], [program for program, _ in pairs])
    titles = (("all", found), ("as many instructions", same), ("all, with the instructions of the remedy", with_work),
              ("the same, written for predictions", unseen))
    return [prediction_line(title, rows) for title, rows in titles if rows]


def replace_part(page, name, lines):
    """Puts lines between `<!-- NAME -->` and `<!-- end of NAME -->` of a page."""
    begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
    before, _, rest = page.read_text().partition(begin)
    _, found, after = rest.partition(end)
    if not found:
        raise Failed(f"{page}: there is no {begin.strip()} with {end} behind it")
    page.write_text(before + begin + "".join(f"{line}\n" for line in lines) + end + after)


def markdown(results, programs):
    """The tables of docs/advice.md."""
    scores = ["| programs | " + " | ".join(ADVISERS) + " |", "| --- " * (len(ADVISERS) + 1) + "|"]
    for part, (_, title) in PARTS.items():
        some = [result for result in results if result["part"] == part]
        scores.append(f"| {title} | " + " | ".join(
            f"{sum(result['verdicts'][adviser]['passed'] for result in some)} of {len(some)}" for adviser in ADVISERS) + " |")
    rows = ["| program | cause | " + " | ".join(ADVISERS) + " | best what-if |", "| --- " * (len(ADVISERS) + 3) + "|"]
    for result in results:
        cells = [f"`{result['name']}`" + ("" if result["part"] == "open" else f" ({result['part']})"), result["cause"]]
        for adviser in ADVISERS:
            verdict, said = result["verdicts"][adviser], result["said"][adviser]
            what = "nothing" if said is None else said["remedy_id"]
            gain = f", {percent(verdict['gain'])}" if verdict["gain"] is not None else ""
            cells.append(f"{what}{gain}" if verdict["passed"] else f"**{what}**{gain}")
        cells.append(f"{result['best']} {percent(result['best_gain'])}" if result["best"] else "")
        rows.append("| " + " | ".join(cells) + " |")
    lines = [*prediction_lines(results, programs), *bound_lines(results)]
    return [*scores, "", *(f"- {line[0].upper()}{line[1:]}." for line in lines), "", *rows]


def exceeded(result):
    """Bounds that the experiment exceeds, with its gain."""
    return {resource: (bound, result["what_if"][resource]) for resource, bound in result["bounds"].items()
            if result["what_if"].get(resource, 0) > bound}


def bound_lines(results):
    asked = sum(resource in result["what_if"] for result in results for resource in result["bounds"])
    beyond = [f"`{result['name']}` ({resource} gains {percent(gain)}, at most {percent(bound)})" for result in results
              for resource, (bound, gain) in exceeded(result).items()]
    return [f"bounds of report: {asked - len(beyond)} of {asked} are not exceeded by the experiment"
            + (f"; exceeded: {', '.join(beyond)}" if beyond else "")] if asked else []


def shown_and_true(result):
    """The modelled gain that `run` shows, and what its remedy does gain; None: it shows none, or nothing was applied."""
    true = result["verdicts"]["run"]["gain"]
    return None if result["shown"] is None or true is None else (result["shown"], true)


def shown_lines(results):
    pairs = [pair for result in results if (pair := shown_and_true(result)) is not None]
    errors = [abs(shown - true) for shown, true in pairs]
    return [f"gains that run shows, against applied: {len(pairs)} programs, median error {100 * statistics.median(errors):.1f} points, "
            f"largest {100 * max(errors):.1f}"] if pairs else []


def print_table(results):
    for result in results:
        best = f"best what-if {result['best']} {percent(result['best_gain'])}" if result["best"] else ""
        print(f"{result['name']} ({result['part']}): {result['cause']}   {best}")
        for adviser in ADVISERS:
            verdict = result["verdicts"][adviser]
            print(f"    {'pass' if verdict['passed'] else 'FAIL'} {adviser:8} {said_words(result['said'][adviser]):45} "
                  f"{percent(verdict['gain']):>8} {verdict['why']}")
        if result["shown"] is not None:
            print(f"         run shows {percent(result['shown'])} fewer cycles")
        for twin, gain in result["twins"].items():
            print(f"         {twin} gains {percent(gain)}")
        if result.get("renamed"):
            print(f"    FAIL with other names {', '.join(result['renamed'])} says something else")


def unexpected_gain(program, result):
    """A gain that `run` shows and the remedy does not have; or that is not shown, though the finding names a what-if."""
    pair = shown_and_true(result)
    if pair is None:
        said = result["said"]["run"]
        return [f"{program.name}: run simulates nothing of {said_words(said)}"] if said and said["what_if"] else []
    shown, true = pair
    if abs(shown - true) <= SHOWN_ERROR or program.known_shown is not None:
        return []
    return [f"{program.name}: run shows {percent(shown)} fewer cycles, the remedy gains {percent(true)}"]


def unexpected(results, programs, small):
    """What differs from the passes that court.json tells: failures that are not known, and known ones that pass."""
    bad, better = [], []
    for program, result in zip(programs, results):
        for adviser in ("run", "report", "stat"):
            passed, reason = result["verdicts"][adviser]["passed"], program.known.get(adviser)
            if not passed and reason is None:
                bad.append(f"{result['name']}: {adviser}: {said_words(result['said'][adviser])}: "
                           f"{result['verdicts'][adviser]['why']}")
            elif passed and reason is not None and not small:
                better.append(f"{result['name']}: {adviser} passes now; take it out of known_failures ({reason})")
        bad += [f"{result['name']}: {resource} gains {percent(gain)}, report says at most {percent(bound)}"
                for resource, (bound, gain) in exceeded(result).items() if resource not in program.known_exceeded]
        better += [f"{result['name']}: {resource} is within its bound now; take it out of known_exceeded"
                   for resource in set(program.known_exceeded) - set(exceeded(result)) if not small]
        if small:
            bad += unexpected_gain(program, result)
        bad += [f"{result['name']}: other names, other advice: {adviser}" for adviser in result.get("renamed", [])]
    return bad, better


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--renamed", action="store_true")
    parser.add_argument("--markdown", type=pathlib.Path)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("cyclops", type=os.path.realpath)
    parser.add_argument("names", nargs="*")
    return parser.parse_args()


def main():
    options = parse()
    for program in ("qemu-aarch64", COMPILER, "nm"):
        need(program)
    programs = read_programs(options.names)
    if options.small:
        programs = [program for program in programs if program.is_small]
    options.renamed = programs[:3 if options.small else None] if options.renamed else []
    with tempfile.TemporaryDirectory() as name, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        folder = options.keep.resolve() if options.keep else pathlib.Path(name)
        results = list(pool.map(lambda program: try_program(options, program, folder), programs))
    print_table(results)
    print("\n".join(["", *score_lines(results), *prediction_lines(results, programs), *bound_lines(results), *shown_lines(results)]))
    if options.markdown:
        replace_part(options.markdown, "court.py", markdown(results, programs))
    if options.json:
        options.json.write_text(json.dumps(results, indent=1) + "\n")
    bad, better = unexpected(results, programs, options.small)
    print("\n".join(better))
    if bad:
        sys.exit("\n".join([f"{len(bad)} failures that are not known:", *bad]))


if __name__ == "__main__":
    main()
