// SPDX-License-Identifier: Apache-2.0
// Functions of two sides beside each other: threads, ranges of time, runs, and by which of the two columns.
import { Table, type Column, type Value } from "../data.js";
import { button, h } from "../dom.js";
import { humanNumber } from "../human.js";
import { addGrid, addressOf, chooser, type View } from "../page.js";
import { renamed } from "../modules.js";
import { add, NOTHING, shareError, shareMark, Times, WEIGHTS, type Range, type Sum, type Timed } from "../timed.js";
import { FUNCTION_COLUMNS, functionAddress } from "./functions.js";

export const COMPARE = "compare";

const SPARSE_BELOW = 10;

/** One of the captures in the file. */
interface Run {
  /** "a", "b"; "" where there is only one. */
  readonly label: string;
  readonly times: Times;
  readonly byThread: ReadonlyMap<number, ReadonlyMap<number, Sum>>;
}

/** What is compared: records of a run, all of them, of a thread, or of a range of time; by samples or by weight. */
interface Side {
  readonly run: Run;
  readonly thread: number | null;
  readonly range: Range;
  readonly bySamples: boolean;
}

const isWhole = (side: Side): boolean =>
  side.thread === null && side.range.from === 0 && side.range.to === side.run.times.steps;
const sameRange = (a: Range, b: Range): boolean => a.from < b.to && b.from < a.to;

/** Have they no records in common? Then chance of one says nothing of the other. */
function areApart(a: Side, b: Side): boolean {
  return a.run !== b.run || (a.thread !== null && b.thread !== null && a.thread !== b.thread) ||
    (a.thread === null && b.thread === null && !sameRange(a.range, b.range));
}

/** "b.thread:3", "time:10:20", "all", each with ":samples" behind it. */
function sideText(side: Side): string {
  const what = side.thread !== null ? `thread:${side.thread}` : isWhole(side) ? "all" : `time:${side.range.from}:${side.range.to}`;
  return `${side.run.label === "" ? "" : `${side.run.label}.`}${what}${side.bySamples ? ":samples" : ""}`;
}

function parseSide(text: string | null, runs: readonly Run[]): Side | null {
  const match = /^(?:(\w+)\.)?(all|thread:(\d+)|time:(\d+):(\d+))(:samples)?$/.exec(text ?? "");
  const run = match === null ? undefined : runs.find((r) => r.label === (match[1] ?? ""));
  if (match === null || run === undefined) return null;
  const steps = run.times.steps;
  const thread = match[3] === undefined ? null : Number(match[3]);
  const range = match[4] === undefined ? run.times.whole : { from: Number(match[4]), to: Math.min(steps, Number(match[5])) };
  if ((thread !== null && thread >= (run.times.groups.get("threads")?.rows.rows ?? 0)) || range.from >= range.to) return null;
  return { run, thread, range, bySamples: match[6] !== undefined };
}

/** All records of a side. */
function wholeOf(side: Side, event: string): Sum {
  const { times } = side.run;
  const threads = times.groups.get("threads");
  return side.thread === null || threads === undefined ? times.sum(event, side.range) : threads.sum(side.thread, times.whole);
}

/** What each function took, by its names; `moduleOf`: what its module is called in the other run. */
function functionsOf(side: Side, event: string, moduleOf: (module: string) => string): Map<string, { row: number; sum: Sum }> {
  const { times, byThread } = side.run;
  const functions = times.groups.get("functions")!;
  const found = new Map<string, { row: number; sum: Sum }>();
  for (const row of functions.of(event)) {
    const sum = side.thread === null ? functions.sum(row, side.range) : byThread.get(row)?.get(side.thread) ?? NOTHING;
    if (sum.samples === 0) continue;
    const key = functions.keys().map((c) => {
      const words = functions.rows.at(row, c);
      return functions.rows.columns[c]!.name === "module" ? moduleOf(String(words ?? "")) : words;
    }).join("\n");
    found.set(key, { row, sum: add(found.get(key)?.sum ?? NOTHING, sum) });
  }
  return found;
}

const share = (sum: Sum, whole: Sum, side: Side): number =>
  (side.bySamples ? sum.samples / (whole.samples || 1) : sum.weight / (whole.weight || 1));

interface Cell {
  readonly value: Value;
  readonly mark?: string;
}

/** A row for each function of either side, those with the largest difference first. */
function compared(sides: readonly [Side, Side], event: string): Table {
  const wholes = [wholeOf(sides[0], event), wholeOf(sides[1], event)] as const;
  const functions = sides.map((side) => side.run.times.groups.get("functions")!) as [Timed, Timed];
  const [ofA, ofB] = functions.map((f) => f.of(event).map((row) => f.rows.words(row, "module"))) as [string[], string[]];
  const found = [functionsOf(sides[0], event, (m) => m), functionsOf(sides[1], event, renamed(ofA, ofB))] as const;
  const apart = areApart(...sides);
  const rows = [...new Set([...found[0].keys(), ...found[1].keys()])].map((key) => {
    const sums = [found[0].get(key)?.sum ?? NOTHING, found[1].get(key)?.sum ?? NOTHING] as const;
    const at = found[0].has(key) ? 0 : 1;
    const row = found[at].get(key)!.row;
    const shares = [share(sums[0], wholes[0], sides[0]), share(sums[1], wholes[1], sides[1])] as const;
    const names = functions[at].keys().map((c) => functions[at].rows.at(row, c));
    return { key, sums, shares, difference: shares[1] - shares[0], names };
  });
  const error = (r: (typeof rows)[number], i: 0 | 1): number => shareError(r.sums[i], wholes[i], sides[i].bySamples);
  const mark = (r: (typeof rows)[number], i: 0 | 1): string =>
    (sides[i].bySamples ? (r.sums[i].samples < SPARSE_BELOW ? "sparse" : "exact") : shareMark(r.sums[i], wholes[i]));
  const differenceMark = (r: (typeof rows)[number]): string => {
    if (["saturated", "at-most", "uncertain"].some((m) => mark(r, 0) === m || mark(r, 1) === m)) return "uncertain";
    if (r.sums[0].samples < SPARSE_BELOW && r.sums[1].samples < SPARSE_BELOW) return "sparse";
    return apart && Math.abs(r.difference) <= Math.hypot(error(r, 0), error(r, 1)) ? "noise" : "exact";
  };
  const column = (name: string, title: string, unit: string, type: Column["type"], flags: Column["flags"], meaning: string): Column =>
    ({ name, title, unit, type, flags, meaning });
  const columns: [Column, (r: (typeof rows)[number]) => Cell][] = ([0, 1] as const).flatMap((i): [Column, (r: (typeof rows)[number]) => Cell][] => {
    const side = "AB"[i]!;
    const by = sides[i].bySamples ? "samples" : WEIGHTS[sides[i].run.times.unit(event)] ?? "weight";
    return [
      [column(`share_${side.toLowerCase()}`, `${side} ${by}`, "", "number", ["share", "bar", "trust"], `part of the ${by} of side ${side}`),
        (r) => (r.sums[i].samples === 0 ? { value: null } : { value: r.shares[i], mark: mark(r, i) })],
      [column(`error_${side.toLowerCase()}`, "±", "", "number", ["share"], "half of its 95 % interval"),
        (r) => ({ value: r.sums[i].samples === 0 ? null : error(r, i) })],
    ];
  });
  columns.push([column("difference", "B − A", "", "number", ["share", "trust"], "the share of B less that of A, in points of a per cent"),
    (r) => ({ value: r.difference, mark: differenceMark(r) })]);
  for (const i of [0, 1] as const)
    columns.push([column(`samples_${"ab"[i]}`, `${"AB"[i]} samples`, "samples", "count", [], `samples or records of side ${"AB"[i]}`),
      (r) => ({ value: r.sums[i].samples })]);
  rows.sort((x, y) => Math.abs(y.difference) - Math.abs(x.difference) || y.sums[0].weight - x.sums[0].weight || (x.key < y.key ? -1 : 1));
  const cells = columns.map(([, of]) => rows.map(of));
  const keys = functions[0].keys();
  return new Table({
    name: COMPARE, title: "Compare", style: "grid", readers: "all", rows: rows.length,
    columns: [...keys.map((c) => functions[0].rows.raw.columns[c]!), ...columns.map(([c]) => c)],
    cells: [...keys.map((_, i) => rows.map((r) => r.names[i] ?? null)), ...cells.map((of) => of.map((c) => c.value))],
    marks: [...keys.map(() => ({})), ...cells.map((of) => Object.fromEntries(of.flatMap((c, i) =>
      (c.mark === undefined || c.mark === "exact" || c.value === null ? [] : [[String(i), c.mark] as const]))))],
    notes: [...new Set(functions.flatMap((f) => f.rows.raw.notes))],
  });
}

/** The two sides to begin with: runs, threads, or halves of the time. */
function usualSides(runs: readonly Run[]): [Side, Side] {
  const [first] = runs as [Run];
  const last = runs.at(-1)!;
  const { whole, steps, groups } = first.times;
  const all: Side = { run: first, thread: null, range: whole, bySamples: false };
  if (runs.length > 1) return [all, { ...all, run: last, range: last.times.whole }];
  if ((groups.get("threads")?.rows.rows ?? 0) > 1) return [{ ...all, thread: 0 }, { ...all, thread: 1 }];
  return [{ ...all, range: { from: 0, to: Math.ceil(steps / 2) } }, { ...all, range: { from: Math.ceil(steps / 2), to: steps } }];
}

/** The page, with what is chosen on it. */
class Compare {
  private event: string;
  private sides: [Side, Side];
  private readonly choices = h("div");
  private readonly said = h("p", { class: "note", role: "status" });
  private readonly place = h("div");

  constructor(private readonly root: HTMLElement, private readonly runs: readonly Run[], private readonly view: View) {
    const state = view.route.state;
    const usual = usualSides(runs);

    this.event = this.events().find((e) => e === state.get("event")) ?? this.events()[0] ?? "";
    this.sides = [parseSide(state.get("a"), runs) ?? usual[0], parseSide(state.get("b"), runs) ?? usual[1]];
  }

  /** Events that all runs have. */
  private events(): string[] {
    return this.runs[0]!.times.events().filter((e) => this.runs.every((run) => run.times.events().includes(e)));
  }

  draw(): void {
    this.root.append(this.choices, this.said, this.place);
    if (this.event === "") {
      this.said.textContent = "The runs have no event in common.";
      return;
    }
    this.drawChoices();
    this.view.texts.push(() => `${this.event}\n${this.sides.map((s, i) => `${"AB"[i]}: ${this.words(s)}\n`).join("")}\n`);
    this.drawTable();
  }

  private threadName(run: Run, thread: number): string {
    return `thread ${run.times.groups.get("threads")!.name(thread)}`;
  }

  private words(side: Side): string {
    const { run } = side;
    const what = side.thread !== null ? this.threadName(run, side.thread) : isWhole(side) ? "all" : run.times.words(side.range);
    const whole = wholeOf(side, this.event);
    return `${run.label === "" ? "" : `run ${run.label}, `}${what}: ${humanNumber(whole.samples, COUNT, 0)} samples`;
  }

  private change(i: 0 | 1, changes: Partial<Side>): void {
    this.sides[i] = { ...this.sides[i], ...changes };
    this.drawChoices();
    this.drawTable();
    this.keep();
  }

  private keep(): void {
    const state = this.view.route.state;
    if (this.event !== this.events()[0]) state.set("event", this.event);
    else state.delete("event");
    state.set("a", sideText(this.sides[0]));
    state.set("b", sideText(this.sides[1]));
    this.view.keep(state);
  }

  /** What a side can be. */
  private sideOptions(): { id: string; title: string; side: Pick<Side, "run" | "thread" | "range"> }[] {
    return this.runs.flatMap((run) => {
      const of = run.label === "" ? "" : `run ${run.label}: `;
      const { whole, steps, groups } = run.times;
      const threads = groups.get("threads")?.of(this.event) ?? [];
      return [
        { id: `${run.label}.all`, title: `${of}all`, side: { run, thread: null, range: whole } },
        ...threads.map((thread) => ({ id: `${run.label}.${thread}`, title: of + this.threadName(run, thread), side: { run, thread, range: whole } })),
        ...(steps < 2 ? [] : [{ id: `${run.label}.time`, title: `${of}a range of time`, side: { run, thread: null, range: { from: 0, to: Math.ceil(steps / 2) } } }]),
      ];
    });
  }

  private drawChoices(): void {
    const events = this.events();
    const weight = WEIGHTS[this.runs[0]!.times.unit(this.event)] ?? "weight";
    const options = this.sideOptions();
    const focused = this.choices.contains(document.activeElement) ? document.activeElement?.getAttribute("aria-label") : null;
    const rows = ([0, 1] as const).map((i) => {
      const side = this.sides[i];
      const name = "AB"[i]!;
      const id = `${side.run.label}.${side.thread !== null ? side.thread : isWhole(side) ? "all" : "time"}`;
      return h("div", { class: "tools" },
        chooser(name, options.map((o) => [o.id, o.title] as const), id, (chosen) => this.change(i, options.find((o) => o.id === chosen)!.side)),
        chooser(`${name} by`, [["weight", weight], ["samples", "samples"]], side.bySamples ? "samples" : "weight",
          (by) => this.change(i, { bySamples: by === "samples" })),
        ...(side.thread !== null || isWhole(side) ? [] : this.sliders(i, name)));
    });
    this.choices.replaceChildren(
      h("div", { class: "tools" }, events.length < 2 ? null : chooser("event", events.map((e) => [e, e] as const), this.event, (event) => {
        this.event = event;
        this.sides = usualSides(this.runs);
        this.drawChoices();
        this.drawTable();
        this.keep();
      })),
      ...rows, h("div", { class: "tools" }, button("Swap A and B", () => {
        this.sides = [this.sides[1], this.sides[0]];
        this.drawChoices();
        this.drawTable();
        this.keep();
      })));
    if (focused !== null) this.choices.querySelector<HTMLElement>(`[aria-label="${focused}"]`)?.focus();
  }

  private sliders(i: 0 | 1, name: string): HTMLElement[] {
    const { times } = this.sides[i].run;
    const slider = (end: "from" | "to"): HTMLElement => {
      const input = h("input", { type: "range", min: 0, max: times.steps, step: 1, "aria-label": `${name} ${end}: slice of time` });
      input.value = String(this.sides[i].range[end]);
      input.addEventListener("change", () => {
        const value = Number(input.value);
        const { from, to } = this.sides[i].range;
        this.change(i, { range: end === "from" ? { from: Math.min(value, times.steps - 1), to: Math.max(to, value + 1) }
          : { from: Math.min(from, Math.max(0, value - 1)), to: Math.max(1, value) } });
      });
      return h("label", {}, `${end} `, input, ` ${times.moment(this.sides[i].range[end])}`);
    };
    return [slider("from"), slider("to")];
  }

  private drawTable(): void {
    const table = compared(this.sides, this.event);
    const [grid, text] = [this.view.grids, this.view.texts];
    this.said.textContent = this.sides.map((s, i) => `${"AB"[i]}: ${this.words(s)}`).join("; ");
    grid.splice(0, grid.length);
    text.splice(1, text.length);
    this.place.replaceChildren();
    addGrid(this.place, table, this.view, {
      state: this.view.route.state,
      onState: (now) => {
        for (const name of ["sort", "filter", "columns"]) {
          const value = now.get(name);
          if (value === null) this.view.route.state.delete(name);
          else this.view.route.state.set(name, value);
        }
        this.keep();
      },
      linkColumns: FUNCTION_COLUMNS, link: (row) => functionAddress(this.view, table, row),
    }).drawAgain();
  }
}

const COUNT: Column = { name: "", title: "", unit: "samples", type: "count", meaning: "", flags: [] };

/** Draws the comparison of what blocks of time have. */
export async function renderCompare(root: HTMLElement, view: View): Promise<void> {
  const runs: Run[] = [];
  for (const [number, block] of view.data.about.blocks.entries()) {
    if (block.page !== "timeline") continue;
    const times = new Times(await view.data.load(number));
    runs.push({ label: block.label ?? "", times, byThread: times.byThread() });
  }
  if (runs.every((run) => run.times.groups.has("functions"))) new Compare(root, runs, view).draw();
  else root.append(h("p", {}, "No functions are known by time."));
}

export const compareAddress = (): string => addressOf("functions", COMPARE);
