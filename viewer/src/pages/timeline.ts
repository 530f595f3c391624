// SPDX-License-Identifier: Apache-2.0
// Threads by time: when each was active, how long it waited, where its data came from. A range of the time can be
// chosen; figures and tables are of that range then.
import { Brush } from "../brush.js";
import { Table, type Column, type RawTable, type Value } from "../data.js";
import { h } from "../dom.js";
import { Grid } from "../grid.js";
import { humanNumber } from "../human.js";
import { addressOf, chooser, type Page, type View } from "../page.js";
import { drawStrips, largestOf, setFigures, stripsText, type Strip, type Tick } from "../strips.js";
import { shareMark, Times, WEIGHTS, type Range, type Sum, type Timed } from "../timed.js";
import { FUNCTION_COLUMNS, functionAddress } from "./functions.js";

/** Strips of threads and sources; the table has the others. */
const MOST_STRIPS = 24;

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

const column = (name: string, title: string, unit: string, type: Column["type"], flags: Column["flags"], meaning: string): Column =>
  ({ name, title, unit, type, flags, meaning });

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

/** Groups with a drawing: a strip for each of their first rows. */
interface Drawn {
  readonly timed: Timed;
  readonly rows: readonly number[];
  readonly strips: readonly Strip[];
  readonly element: HTMLElement;
}

/** The page, with what is chosen on it. */
class Timeline {
  private event: string;
  private measure: Measure;
  private range: Range;
  private drawn: readonly Drawn[] = [];
  private readonly charts = h("div");
  private readonly tables = h("div");
  private readonly elsewhere = h("p", { class: "note" });
  private readonly states = new Map<string, URLSearchParams>();
  private readonly brush: Brush;

  constructor(private readonly root: HTMLElement, private readonly times: Times, private readonly view: View) {
    const state = view.route.state;

    this.event = times.events().find((e) => e === state.get("event")) ?? times.events()[0]!;
    this.measure = MEASURES.find((m) => m.id === state.get("measure"))?.id ?? "samples";
    this.brush = new Brush(this.charts, times.steps, (slice) => times.moment(slice), (range) => {
      this.show(range);
      this.keep();
    });
    this.range = this.brush.read(state);
  }

  private unit(): string {
    return this.times.unit(this.event);
  }
  private measureTitle(measure: Measure): string {
    const weight = WEIGHTS[this.unit()] ?? "weight";
    return measure === "samples" ? "samples" : measure === "weight" ? weight : `mean ${weight}`;
  }

  draw(): void {
    const events = this.times.events();
    const measures = MEASURES.filter((m) => m.id !== "mean" || this.unit() === "cycles");
    this.root.append(
      h("div", { class: "tools" },
        events.length < 2 ? null : chooser("event", events.map((e) => [e, e] as const), this.event, (event) => {
          this.event = event;
          this.drawAgain();
        }),
        chooser("bars", measures.map((m) => [m.id, this.measureTitle(m.id)] as const), this.measure, (measure) => {
          this.measure = measure as Measure;
          this.drawAgain();
        })),
      this.charts, this.brush.tools,
      h("p", { class: "note" }, "drag over the bars, or move the ends: figures and tables are of that range"),
      this.elsewhere, this.tables);
    this.view.texts.push(() => this.text());
    this.drawCharts();
    this.brush.show(this.range);
    this.show(this.range);
  }

  private drawAgain(): void {
    this.drawCharts();
    this.show(this.range);
    this.keep();
  }

  private words(sum: Sum): string {
    const value = valueOf(sum, this.measure);
    if (value === null) return "nothing";
    const bound = this.measure !== "samples" && sum.saturated > 0 ? "≥ " : "";
    const unit = this.measure === "samples" ? "samples" : this.unit();
    const number = humanNumber(value, column("", "", unit, this.measure === "mean" ? "number" : "count", [], ""), 1);
    return `${bound}${number} ${unit === "ns" ? "" : unit}`.trim();
  }

  private strip(timed: Timed, row: number): Strip {
    const sums = Array.from({ length: this.times.steps }, (_, slice) => timed.at(row, slice));
    const name = timed.name(row);
    return {
      name, values: sums.map((sum) => valueOf(sum, this.measure)),
      words: (slice) => `${name}, ${this.times.moment(slice)}: ${this.words(sums[slice]!)}`,
      figures: "",
      bounds: new Set(sums.flatMap((sum, i) => (this.measure !== "samples" && sum.saturated > 0 ? [i] : []))),
    };
  }

  private drawCharts(): void {
    const { steps } = this.times;
    const ticks = [0, 0.25, 0.5, 0.75].map((part): Tick => ({ at: part * steps, label: this.times.moment(part * steps) }));
    const charts: HTMLElement[] = [];

    this.drawn = ["threads", "sources"].flatMap((name): Drawn[] => {
      const timed = this.times.groups.get(name);
      const all = timed?.of(this.event) ?? [];
      const rows = all.slice(0, MOST_STRIPS);
      if (timed === undefined || rows.length === 0) return [];
      const strips = rows.map((row) => this.strip(timed, row));
      const element = name === "threads" ? drawStrips(strips, ticks, "time", largestOf(strips)) : drawStrips(strips, ticks, "time (own scale)");
      charts.push(h("h2", {}, `${timed.rows.title}: ${this.measureTitle(this.measure)}`), element);
      if (rows.length < all.length) charts.push(h("p", { class: "note" }, `${all.length - rows.length} more in the table`));
      return [{ timed, rows, strips, element }];
    });
    this.charts.replaceChildren(...charts);
  }

  /** Figures and tables are of this range from now on. */
  private show(range: Range): void {
    this.range = range;
    this.drawn = this.drawn.map((d) =>
      ({ ...d, strips: d.strips.map((strip, i) => ({ ...strip, figures: this.words(d.timed.sum(d.rows[i]!, range)) })) }));
    for (const { element, strips } of this.drawn) setFigures(element, strips);
    this.elsewhere.replaceChildren(...(this.brush.isWhole ? [] : ["The other pages are of the whole time. For this range: ",
      h("code", {}, this.selection())]));
    this.drawTables();
  }

  /** The option that makes all pages of this range. */
  private selection(): string {
    return `--select 'time in ${this.times.startOf(this.range.from)}ns..${this.times.startOf(this.range.to) - 1}ns'`;
  }

  private keep(): void {
    const state = new URLSearchParams();
    if (this.event !== this.times.events()[0]) state.set("event", this.event);
    if (this.measure !== "samples") state.set("measure", this.measure);
    this.brush.write(state);
    this.view.keep(state);
  }

  private drawTables(): void {
    const whole = this.times.sum(this.event, this.range);
    const grids = [...this.times.groups.values()].flatMap((timed) => {
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

  private text(): string {
    return `${this.event}, ${this.brush.words}\n` +
      this.drawn.map(({ timed, strips }) => `\n${timed.rows.title}: ${this.measureTitle(this.measure)}\n` +
        stripsText(strips, timed.rows.name === "threads" ? largestOf(strips) : undefined)).join("") +
      this.view.grids.map((grid) => `\n${grid.table.title}\n${grid.text()}`).join("");
  }
}

/** Which of two runs. */
function runs(view: View, labels: readonly string[], chosen: string): HTMLElement {
  return h("nav", { class: "tabs", "aria-label": "Run" }, ...labels.map((label, i) =>
    h("a", { href: addressOf("timeline", i === 0 ? "" : label, view.route.state), "aria-current": label === chosen ? "true" : undefined },
      `run ${label}`)));
}

export const timeline: Page = {
  id: "timeline",
  title: "Timeline",
  has: (data) => data.has("timeline"),
  async render(root, view) {
    const labels = view.data.about.blocks.filter((b) => b.page === "timeline").map((b) => b.label ?? "");
    const label = labels.find((l) => l === view.route.about) ?? labels[0]!;
    if (labels.length > 1) root.append(runs(view, labels, label));
    const block = labels.length > 1 ? view.data.find("timeline", label) : view.data.find("timeline");
    new Timeline(root, new Times(await view.data.load(block)), view).draw();
  },
};
