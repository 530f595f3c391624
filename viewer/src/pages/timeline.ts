// SPDX-License-Identifier: Apache-2.0
// Threads by time: when each was active, how long it waited, where its data came from. A range of the time can be
// chosen; the tables below are of that range then.
import { Table, type Column, type RawTable, type Value } from "../data.js";
import { button, h } from "../dom.js";
import { Grid } from "../grid.js";
import { humanNumber } from "../human.js";
import type { Page, View } from "../page.js";
import { drawStrips, largestOf, stripsText, type Strip, type Tick } from "../strips.js";
import { FUNCTION_COLUMNS, functionAddress } from "./functions.js";

/** Strips of threads and sources; the table has the others. */
const MOST_STRIPS = 24;

/** As the text screens mark shares (src/estimate/shares.c). */
const SPARSE_BELOW = 10;
const LEAST_SATURATED = 0.01;

/** What fell into a slice, or into a range of them. */
interface Sum {
  readonly samples: number;
  readonly weight: number;
  readonly saturated: number;
}

const NOTHING: Sum = { samples: 0, weight: 0, saturated: 0 };
const add = (a: Sum, b: Sum): Sum =>
  ({ samples: a.samples + b.samples, weight: a.weight + b.weight, saturated: a.saturated + b.saturated });

/** A table of rows with what fell into each slice. */
class Timed {
  private readonly slices: Map<number, Sum>[];

  constructor(readonly rows: Table, slices: Table) {
    this.slices = Array.from({ length: rows.rows }, () => new Map<number, Sum>());
    for (let i = 0; i < slices.rows; i++)
      this.slices[Number(slices.get(i, "row"))]?.set(Number(slices.get(i, "slice")), {
        samples: Number(slices.get(i, "samples")), weight: Number(slices.get(i, "weight")), saturated: Number(slices.get(i, "saturated")),
      });
  }

  /** Rows of an event. */
  of(event: string): number[] {
    return Array.from({ length: this.rows.rows }, (_, row) => row).filter((row) => this.rows.words(row, "event") === event);
  }
  at(row: number, slice: number): Sum {
    return this.slices[row]?.get(slice) ?? NOTHING;
  }
  sum(row: number, range: Range): Sum {
    let sum = NOTHING;
    for (const [slice, part] of this.slices[row] ?? []) if (slice >= range.from && slice < range.to) sum = add(sum, part);
    return sum;
  }
  /** Its keys in words: "sharing 1001". */
  name(row: number): string {
    return this.keys().map((c) => this.rows.at(row, c)).filter((v): v is string | number => v !== null && v !== "").join(" ") ||
      (this.rows.name === "sources" ? "no data source" : "-");
  }
  /** The columns before the sums, without the event. */
  keys(): number[] {
    return this.rows.columns.flatMap((c, i) => (["event", "samples", "weight", "saturated", "unit"].includes(c.name) ? [] : [i]));
  }
}

/** Slices, the last one not among them. */
interface Range {
  readonly from: number;
  readonly to: number;
}

const MEASURES = [
  { id: "samples", title: "samples" },
  { id: "weight", title: "weight" },
  { id: "mean", title: "mean" },
] as const;

type Measure = (typeof MEASURES)[number]["id"];

function valueOf(sum: Sum, measure: Measure): number | null {
  if (sum.samples === 0) return null;
  return measure === "samples" ? sum.samples : measure === "weight" ? sum.weight : sum.weight / sum.samples;
}

/** What the weight is called: of SPE records latency, of samples of a clock time. */
const WEIGHTS: Readonly<Record<string, string>> = { cycles: "latency", ns: "cpu time", events: "events", entries: "entries" };

const column = (name: string, title: string, unit: string, type: Column["type"], flags: Column["flags"], meaning: string): Column =>
  ({ name, title, unit, type, flags, meaning });

function shareMark(part: Sum, whole: Sum): string {
  if (part.samples < SPARSE_BELOW) return "sparse";
  const little = LEAST_SATURATED * whole.weight;
  const own = part.saturated > little;
  const others = whole.saturated - part.saturated > little;
  if (part.weight === whole.weight || (!own && !others)) return "exact";
  return own && others ? "uncertain" : own ? "saturated" : "at-most";
}

/** The rows that have something in the range, those with most first; parts are of all records in the range. */
function tableOf(timed: Timed, rows: readonly number[], range: Range, whole: Sum, unit: string): Table {
  const keys = timed.keys();
  const isLatency = unit === "cycles";
  const sums = rows.map((row) => ({ row, sum: timed.sum(row, range) })).filter(({ sum }) => sum.samples > 0)
    .sort((a, b) => b.sum.weight - a.sum.weight || a.row - b.row);
  const columns: [Column, (sum: Sum) => [Value, string]][] = [
    [column("share", isLatency ? "latency share" : "share", "", "number", ["share", "bar", "trust"], "part of all records in the range, by weight"),
      (sum) => [whole.weight === 0 ? null : sum.weight / whole.weight, shareMark(sum, whole)]],
    [column("samples", "samples", "samples", "count", [], "records or samples in the range"), (sum) => [sum.samples, "exact"]],
    [column("weight", WEIGHTS[unit] ?? "weight", unit, "count", ["trust"], timed.rows.columns[timed.rows.column("weight")]!.meaning),
      (sum) => [sum.weight, sum.saturated > 0 ? "saturated" : "exact"]],
  ];
  if (isLatency)
    columns.push([column("mean", "mean", "cycles", "number", ["trust"], "mean total latency of a sampled operation"),
      (sum) => [sum.weight / sum.samples, sum.saturated > 0 ? "saturated" : "exact"]]);
  const values = columns.map(([, value]) => sums.map(({ sum }) => value(sum)));
  const raw: RawTable = {
    name: timed.rows.name, title: timed.rows.title, style: "grid", readers: "all",
    columns: [...keys.map((c) => timed.rows.raw.columns[c]!), ...columns.map(([c]) => c)],
    rows: sums.length,
    cells: [...keys.map((c) => sums.map(({ row }) => timed.rows.at(row, c))), ...values.map((of) => of.map(([value]) => value))],
    marks: [...keys.map(() => ({})), ...values.map((of) =>
      Object.fromEntries(of.flatMap(([, mark], i) => (mark === "exact" ? [] : [[String(i), mark]]))))],
    notes: timed.rows.raw.notes,
  };
  return new Table(raw);
}

/** The page, with what is chosen on it. */
class Timeline {
  private readonly steps: number;
  private readonly start: number;
  private readonly width: number;
  private readonly all: Timed;
  private readonly groups: readonly Timed[];
  private readonly time: Column;
  private event: string;
  private measure: Measure;
  private range: Range;
  private strips: (readonly [Timed, readonly Strip[]])[] = [];
  private readonly charts = h("div", { class: "timeline" });
  private readonly tables = h("div");
  private readonly said = h("p", { class: "range", role: "status" });
  private readonly states = new Map<string, URLSearchParams>();
  private readonly from: HTMLInputElement;
  private readonly to: HTMLInputElement;

  constructor(private readonly root: HTMLElement, tables: readonly Table[], private readonly view: View) {
    const find = (name: string): Table => tables.find((t) => t.name === name)!;
    const slices = find("slices");
    const timed = (name: string, parts: string): Timed[] =>
      tables.some((t) => t.name === name) ? [new Timed(find(name), find(parts))] : [];
    const state = view.route.state;
    const number = (name: string, usual: number): number => {
      const value = Number(state.get(name) ?? usual);
      return Number.isInteger(value) && value >= 0 && value <= this.steps ? value : usual;
    };

    this.steps = Number(slices.get(0, "slices"));
    this.start = Number(slices.get(0, "start_ns"));
    this.width = Number(slices.get(0, "width_ns"));
    this.time = slices.columns[slices.column("start_ns")]!;
    this.all = timed("all", "all_slices")[0]!;
    this.groups = [...timed("threads", "thread_slices"), ...timed("sources", "source_slices"), ...timed("functions", "function_slices")];
    this.event = this.events().find((e) => e === state.get("event")) ?? this.events()[0]!;
    this.measure = MEASURES.find((m) => m.id === state.get("measure"))?.id ?? "samples";
    this.range = { from: number("from", 0), to: number("to", this.steps) };
    if (this.range.from >= this.range.to) this.range = { from: 0, to: this.steps };
    this.from = this.slider("from", (value) => this.choose({ from: Math.min(value, this.steps - 1), to: Math.max(this.range.to, value + 1) }));
    this.to = this.slider("to", (value) => this.choose({ from: Math.min(this.range.from, value - 1), to: Math.max(1, value) }));
  }

  private events(): string[] {
    return Array.from({ length: this.all.rows.rows }, (_, row) => this.all.rows.words(row, "event"));
  }
  private unit(): string {
    return this.all.rows.words(this.all.of(this.event)[0] ?? 0, "unit");
  }
  private moment(slice: number): string {
    return humanNumber(Math.round(this.start + slice * this.width), this.time, 1);
  }
  private measureTitle(measure: Measure): string {
    const weight = WEIGHTS[this.unit()] ?? "weight";
    return measure === "samples" ? "samples" : measure === "weight" ? weight : `mean ${weight}`;
  }
  private isWhole(): boolean {
    return this.range.from === 0 && this.range.to === this.steps;
  }

  private slider(name: string, onInput: (value: number) => void): HTMLInputElement {
    const input = h("input", { type: "range", min: 0, max: this.steps, step: 1, "aria-label": `${name}: slice of time` });
    input.addEventListener("input", () => onInput(Number(input.value)));
    return input;
  }

  private chooser(label: string, values: readonly (readonly [string, string])[], value: string, onChange: (value: string) => void): HTMLElement {
    const select = h("select", { "aria-label": label }, ...values.map(([id, title]) => h("option", { value: id }, title)));
    select.value = value;
    select.addEventListener("change", () => onChange(select.value));
    return h("span", {}, `${label} `, select);
  }

  draw(): void {
    const events = this.events();
    const measures = MEASURES.filter((m) => m.id !== "mean" || this.unit() === "cycles");
    this.root.append(
      h("div", { class: "tools" },
        events.length < 2 ? null : this.chooser("event", events.map((e) => [e, e] as const), this.event, (event) => {
          this.event = event;
          this.drawCharts();
          this.choose(this.range);
        }),
        this.chooser("bars", measures.map((m) => [m.id, this.measureTitle(m.id)] as const), this.measure, (measure) => {
          this.measure = measure as Measure;
          this.drawCharts();
          this.choose(this.range);
        })),
      this.charts,
      h("div", { class: "tools range-tools" }, h("label", {}, "from ", this.from), h("label", {}, "to ", this.to),
        button("Whole time", () => this.choose({ from: 0, to: this.steps }))),
      this.said,
      h("p", { class: "note" }, "drag over the bars, or move the ends: the tables are of that range"),
      this.tables);
    this.view.texts.push(() => this.text());
    this.drawCharts();
    this.show(this.range);
    this.brush();
  }

  private strip(timed: Timed, row: number, name: string): Strip {
    const sums = Array.from({ length: this.steps }, (_, slice) => timed.at(row, slice));
    const whole = timed.sum(row, { from: 0, to: this.steps });
    const words = (sum: Sum): string => {
      const value = valueOf(sum, this.measure);
      const bound = this.measure !== "samples" && sum.saturated > 0 ? "≥ " : "";
      return value === null ? "nothing" : `${bound}${humanNumber(value, column("", "", this.measure === "samples" ? "samples" : this.unit(), this.measure === "mean" ? "number" : "count", [], ""), 1)} ` +
        (this.measure === "samples" ? "samples" : this.unit() === "ns" ? "" : this.unit());
    };
    return {
      name, values: sums.map((sum) => valueOf(sum, this.measure)),
      words: (slice) => `${name}, ${this.moment(slice)}: ${words(sums[slice]!).trim()}`,
      figures: words(whole).trim(),
      bounds: new Set(sums.flatMap((sum, i) => (this.measure !== "samples" && sum.saturated > 0 ? [i] : []))),
    };
  }

  private drawCharts(): void {
    const ticks = [0, 0.25, 0.5, 0.75].map((part): Tick => ({ at: part * this.steps, label: this.moment(part * this.steps) }));
    const drawn = this.groups.filter((timed) => timed.rows.name !== "functions").map((timed) => {
      const rows = timed.of(this.event);
      const strips = rows.slice(0, MOST_STRIPS).map((row) => this.strip(timed, row, timed.name(row)));
      return { timed, strips, left: rows.length - strips.length };
    }).filter(({ strips }) => strips.length > 0);

    this.strips = drawn.map(({ timed, strips }) => [timed, strips] as const);
    this.charts.replaceChildren(...drawn.flatMap(({ timed, strips, left }) => [
      h("h2", {}, `${timed.rows.title}: ${this.measureTitle(this.measure)}`),
      timed.rows.name === "threads" ? drawStrips(strips, ticks, "time", largestOf(strips)) : drawStrips(strips, ticks, "time (own scale)"),
      left > 0 ? h("p", { class: "note" }, `${left} more in the table`) : null,
    ]).filter((e): e is HTMLElement => e !== null));
  }

  /** The tables are of this range from now on, and the address says so. */
  private choose(range: Range): void {
    this.show(range);
    this.keep();
  }

  private show(range: Range): void {
    this.range = range;
    this.from.value = String(range.from);
    this.to.value = String(range.to);
    this.said.textContent = `${this.moment(range.from)} to ${this.moment(range.to)}${this.isWhole() ? ": the whole time" : ""}`;
    for (const input of [this.from, this.to]) input.setAttribute("aria-valuetext", this.moment(Number(input.value)));
    this.charts.style.setProperty("--from", `${(100 * range.from) / this.steps}%`);
    this.charts.style.setProperty("--to", `${(100 * range.to) / this.steps}%`);
    this.charts.classList.toggle("chosen", !this.isWhole());
    this.drawTables();
  }

  private keep(): void {
    const state = new URLSearchParams();
    if (this.event !== this.events()[0]) state.set("event", this.event);
    if (this.measure !== "samples") state.set("measure", this.measure);
    if (!this.isWhole()) {
      state.set("from", String(this.range.from));
      state.set("to", String(this.range.to));
    }
    this.view.keep(state);
  }

  private drawTables(): void {
    const whole = this.all.of(this.event).map((row) => this.all.sum(row, this.range)).reduce(add, NOTHING);
    const grids = this.groups.flatMap((timed) => {
      const table = tableOf(timed, timed.of(this.event), this.range, whole, this.unit());
      if (table.rows === 0) return [];
      const state = this.states.get(table.name);
      return [new Grid(table, {
        plain: table.rows < 12, ...(state === undefined ? {} : { state }), onState: (now) => this.states.set(table.name, now),
        linkColumns: FUNCTION_COLUMNS, link: (row) => functionAddress(this.view, table, row),
      })];
    });

    this.view.grids.splice(0, this.view.grids.length, ...grids);
    this.tables.replaceChildren(...grids.flatMap((grid) => [h("h2", {}, grid.table.title), grid.element]));
    grids.forEach((grid) => grid.drawAgain());
  }

  /** Where on the time a pointer is, in slices; null: beside the bars. */
  private sliceAt(event: PointerEvent, plot: Element): number {
    const box = plot.getBoundingClientRect();
    return Math.max(0, Math.min(this.steps, ((event.clientX - box.left) / box.width) * this.steps));
  }

  private brush(): void {
    let plot: Element | null = null;
    let first = 0;

    this.charts.addEventListener("pointerdown", (event) => {
      plot = (event.target as Element).closest(".plot");
      if (plot === null || event.button !== 0) return;
      first = this.sliceAt(event, plot);
      this.charts.setPointerCapture(event.pointerId);
      event.preventDefault();
    });
    this.charts.addEventListener("pointermove", (event) => {
      if (plot === null || (event.buttons & 1) === 0) return;
      const now = this.sliceAt(event, plot);
      const from = Math.floor(Math.min(first, now));
      this.choose({ from: Math.min(from, this.steps - 1), to: Math.max(from + 1, Math.ceil(Math.max(first, now))) });
    });
    this.charts.addEventListener("pointerup", (event) => {
      if (plot !== null && Math.abs(this.sliceAt(event, plot) - first) < 0.5) this.choose({ from: 0, to: this.steps });
      plot = null;
    });
  }

  private text(): string {
    return `${this.event}, ${this.said.textContent ?? ""}\n` +
      this.strips.map(([timed, strips]) => `\n${timed.rows.title}: ${this.measureTitle(this.measure)}\n` +
        stripsText(strips, timed.rows.name === "threads" ? largestOf(strips) : undefined)).join("") +
      this.view.grids.map((grid) => `\n${grid.table.title}\n${grid.text()}`).join("");
  }
}

export const timeline: Page = {
  id: "timeline",
  title: "Timeline",
  has: (data) => data.has("timeline"),
  async render(root, view) {
    new Timeline(root, await view.data.load(view.data.find("timeline")), view).draw();
  },
};
