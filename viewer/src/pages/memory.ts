// SPDX-License-Identifier: Apache-2.0
// How long loads and stores take, where their data come from, what they move: what `cyclops mem` and `addr` say.
import { Brush } from "../brush.js";
import type { Table } from "../data.js";
import { h } from "../dom.js";
import { humanNumber, shown } from "../human.js";
import { addGrid, addressOf, addTable, type Page, type View } from "../page.js";
import { drawStrips, largestOf, setFigures, stripsText, type Strip, type Tick } from "../strips.js";
import type { Range } from "../timed.js";
import { FUNCTION_COLUMNS, functionAddress } from "./functions.js";

/** The parts of the page, and the block of data of each. */
const PARTS = [
  { id: "", title: "Data sources", block: "sources" },
  { id: "histogram", title: "Distribution of latencies", block: "sources" },
  { id: "time", title: "Over time", block: "time" },
  { id: "objects", title: "Objects", block: "objects" },
] as const;

type Part = (typeof PARTS)[number];

const rowsOf = (table: Table): number[] => Array.from({ length: table.rows }, (_, row) => row);
const find = (tables: readonly Table[], name: string): Table | undefined => tables.find((t) => t.name === name && t.rows > 0);

/** Where the step of a distribution begins: 0, 1, 2, 3, 4, 6, 8, 12 … (src/mem/histogram.c). */
function stepStart(step: number): number {
  if (step < 3) return step;
  return step % 2 === 0 ? 2 ** (step / 2) : 3 * 2 ** (step / 2 - 1.5);
}

function stepOf(from: number): number {
  let step = 0;
  while (stepStart(step + 1) <= from) step++;
  return step;
}

const accessOf = (table: Table, row: number, group: string): string =>
  [table.words(row, "access"), table.words(row, group)].filter((s) => s !== "").join(" ");

/** "55 samples  9.4 %  p50 289.0  p90 301.0", of the row of data sources. */
function figuresOf(sources: Table, name: string, latency: string): string {
  const row = rowsOf(sources).find((r) => accessOf(sources, r, "source") === name);
  if (row === undefined) return "";
  const cell = (column: string): string => shown(sources, row, sources.column(column));
  const at = (figure: string): string => {
    const column = `${latency}_${figure}_cycles`;
    return sources.get(row, column) === null ? "" : `${figure} ${cell(column)}`;
  };
  return [`${cell("samples")} samples`, cell("share"), at("p50"), at("p90")].filter((s) => s !== "").join("  ");
}

interface Distribution {
  readonly strips: readonly Strip[];
  readonly ticks: readonly Tick[];
}

/** A strip for each data source. Full counters have a step of their own behind all others. */
function distribution(histogram: Table, sources: Table, latency: string): Distribution {
  const rows = rowsOf(histogram).filter((row) => histogram.words(row, "latency") === latency);
  const isFull = (row: number): boolean => histogram.get(row, "to_cycles") === null;
  const steps = rows.filter((row) => !isFull(row)).map((row) => stepOf(Number(histogram.get(row, "from_cycles"))));
  const full = rows.find(isFull);
  const first = Math.max(0, Math.min(...steps));
  const last = Math.max(first, ...steps);
  const names = [...new Set(rows.map((row) => accessOf(histogram, row, "group")))];
  const end = last + 1 - first;
  const strips = names.map((name): Strip => {
    const of = rows.filter((row) => accessOf(histogram, row, "group") === name);
    const values = new Array<number | null>(end + (full === undefined ? 0 : 2)).fill(null);
    const words = new Map<number, string>();
    for (const row of of) {
      const step = isFull(row) ? end + 1 : stepOf(Number(histogram.get(row, "from_cycles"))) - first;
      const cell = (column: string): string => shown(histogram, row, histogram.column(column));
      values[step] = Number(histogram.get(row, "share"));
      words.set(step, `${name}: ${cell("from_cycles")}${isFull(row) ? "" : ` … ${cell("to_cycles")}`} cycles: ` +
        `${cell("share")}, ${cell("samples")} samples`);
    }
    return {
      name, values, words: (step) => words.get(step) ?? "", figures: figuresOf(sources, name, latency),
      bounds: new Set(full === undefined ? [] : [end + 1]),
    };
  });
  const every = Math.max(2, 2 * Math.ceil(end / 16));
  // the label of the last tick stands before it, where there is no room for another one
  const ticks = Array.from({ length: end }, (_, i) => i).filter((i) => (i + first) % every === 0 && (full === undefined || i < end - 2))
    .map((i): Tick => ({ at: i, label: String(stepStart(i + first)) }));
  if (full !== undefined) ticks.push({ at: end + 1, label: shown(histogram, full, histogram.column("from_cycles")) });
  return { strips, ticks };
}

/** The distribution of one latency, to be chosen. */
function addDistribution(root: HTMLElement, histogram: Table, sources: Table, view: View): void {
  const kinds = [...new Set(rowsOf(histogram).map((row) => histogram.words(row, "latency")))];
  const asked = view.route.state.get("latency") ?? "";
  const place = h("div");
  const choice = h("select", { id: "latency" }, ...kinds.map((kind) => h("option", { value: kind }, kind)));
  let drawn: Distribution = { strips: [], ticks: [] };
  const draw = (): void => {
    drawn = distribution(histogram, sources, choice.value);
    place.replaceChildren(drawStrips(drawn.strips, drawn.ticks, "cycles", largestOf(drawn.strips)));
  };

  choice.value = kinds.includes(asked) ? asked : kinds[0]!;
  choice.addEventListener("change", () => {
    draw();
    view.keep(new URLSearchParams({ latency: choice.value }));
  });
  draw();
  root.append(h("h2", {}, "Latency by data source"), h("div", { class: "tools" }, h("label", { for: "latency" }, "latency"), choice,
    h("span", { class: "dim" }, "bars: parts of each row's samples, by latency in steps of half a doubling")), place);
  view.texts.push(() => `\nLatency by data source (${choice.value}, cycles from ${drawn.ticks[0]?.label ?? "0"})\n` +
    stripsText(drawn.strips, largestOf(drawn.strips)));
}

const linked = (table: Table, view: View) => ({
  linkColumns: FUNCTION_COLUMNS, link: (row: number) => functionAddress(view, table, row),
});

function addSources(root: HTMLElement, tables: readonly Table[], view: View): void {
  const histogram = find(tables, "histogram");
  const sources = find(tables, "sources");
  const answer = find(tables, "answer");
  if (answer !== undefined) addTable(root, answer, view);
  if (histogram !== undefined && sources !== undefined) addDistribution(root, histogram, sources, view);
  for (const table of tables.filter((t) => t !== histogram && t !== answer)) addTable(root, table, view, linked(table, view));
}

function addHistogram(root: HTMLElement, tables: readonly Table[], view: View): void {
  const histogram = find(tables, "histogram");
  const sources = find(tables, "sources");
  if (histogram === undefined || sources === undefined) return;
  addDistribution(root, histogram, sources, view);
  root.append(h("h2", {}, histogram.title));
  addGrid(root, histogram, view, { plain: true });
}

/** What is drawn over time, of each kind of access. */
const MEASURES = [
  { column: "bytes_per_s", title: "Bandwidth" },
  { column: "total_mean_cycles", title: "Mean latency (cycles)" },
  { column: "samples", title: "Samples" },
] as const;

/** Slices of time of a block. */
interface Clock {
  readonly steps: number;
  readonly stepOf: (ns: number) => number;
  readonly moment: (step: number) => string;
  readonly ticks: readonly Tick[];
}

function clockOf(slices: Table): Clock {
  const [steps, start, width] = ["slices", "start_ns", "width_ns"].map((name) => Number(slices.get(0, name))) as [number, number, number];
  const time = slices.columns[slices.column("start_ns")]!;
  const moment = (step: number): string => humanNumber(Math.round(start + step * width), time, 1);
  return {
    steps, moment, stepOf: (ns) => Math.round((ns - start) / width),
    ticks: [0, 0.25, 0.5, 0.75].map((part): Tick => ({ at: part * steps, label: moment(part * steps) })),
  };
}

/** Bars of which a range can be chosen: `onRange` is called with it. */
function addBrush(root: HTMLElement, charts: HTMLElement, clock: Clock, words: string, view: View, onRange: (range: Range) => void): Brush {
  const brush = new Brush(charts, clock.steps, clock.moment, (range) => {
    const state = new URLSearchParams();
    brush.write(state);
    view.keep(state);
    onRange(range);
  });
  const range = brush.read(view.route.state);
  root.append(charts, brush.tools, h("p", { class: "note" }, words));
  brush.show(range);
  onRange(range);
  return brush;
}

function addTimes(root: HTMLElement, tables: readonly Table[], view: View): void {
  const table = find(tables, "mem");
  const slices = find(tables, "slices");
  if (table === undefined || slices === undefined) return;
  const clock = clockOf(slices);
  const { steps, ticks } = clock;
  const stepOfRow = (row: number): number => clock.stepOf(Number(table.get(row, "start_ns")));
  const charts = h("div");
  const drawn: { element: HTMLElement; of: (range: Range) => readonly Strip[] }[] = [];
  for (const { column, title } of MEASURES) {
    const at = table.column(column);
    const rows = rowsOf(table).filter((row) => table.at(row, at) !== null);
    if (rows.length === 0) continue;
    const of = (range: Range): readonly Strip[] => [...new Set(rows.map((row) => table.words(row, "access")))].map((access): Strip => {
      const by = new Map(rows.filter((row) => table.words(row, "access") === access).map((row) => [stepOfRow(row), row]));
      const values = Array.from({ length: steps }, (_, step) => {
        const row = by.get(step);
        return row === undefined ? null : Number(table.at(row, at));
      });
      const marked = (mark: string, column: number): Set<number> =>
        new Set([...by].filter(([, row]) => table.mark(row, column) === mark).map(([step]) => step));
      const most = [...by].filter(([step]) => step >= range.from && step < range.to).map(([, row]) => row)
        .reduce((a, b) => (a < 0 || Number(table.at(b, at)) > Number(table.at(a, at)) ? b : a), -1);
      return {
        name: access, values,
        words: (step) => `${access}, ${shown(table, by.get(step)!, table.column("start_ns"))}: ${shown(table, by.get(step)!, at)}`,
        figures: most < 0 ? "nothing" : `up to ${shown(table, most, at).trim()}`,
        bounds: marked("saturated", at), sparse: marked("sparse", table.column("share")),
      };
    });
    const element = drawStrips(of({ from: 0, to: steps }), ticks, "time (own scale)");
    charts.append(h("h2", {}, title), element);
    drawn.push({ element, of });
    view.texts.push(() => `\n${title}\n${stripsText(of(brush.now))}`);
  }
  const below = h("div", {}, h("h2", {}, table.title));
  const grid = addGrid(below, table, view, { plain: table.rows < 12 });
  const brush = addBrush(root, charts, clock, "drag over the bars, or move the ends: figures and the table are of that range", view, (range) => {
    for (const { element, of } of drawn) setFigures(element, of(range));
    grid.restrict((row) => stepOfRow(row) >= range.from && stepOfRow(row) < range.to);
  });
  root.append(below);
}

/** Accesses of each object over time. */
function addObjectTimes(root: HTMLElement, tables: readonly Table[], view: View): void {
  const rows = tables.find((t) => t.column("slice_0") >= 0);
  const slices = find(tables, "slices");
  if (rows === undefined || slices === undefined) return;
  const clock = clockOf(slices);
  const count = rows.columns[rows.column("slice_0")]!;
  const number = (n: number): string => `${humanNumber(n, count, 0)} records`;
  const of = (range: Range): Strip[] => rowsOf(rows).map((row): Strip => {
    const values = Array.from({ length: clock.steps }, (_, step) => Number(rows.get(row, `slice_${step}`) ?? 0));
    const name = objectName(rows, row);
    return {
      name, values: values.map((v) => (v === 0 ? null : v)), words: (step) => `${name}, ${clock.moment(step)}: ${number(values[step]!)}`,
      figures: number(values.slice(range.from, range.to).reduce((sum, v) => sum + v, 0)),
    };
  });
  const strips = of({ from: 0, to: clock.steps });
  const element = drawStrips(strips, clock.ticks, "time", largestOf(strips));
  root.append(h("h2", {}, "Accesses over time"));
  const brush = addBrush(root, h("div", {}, element), clock,
    "drag over the bars, or move the ends: figures beside the bars are of that range; tables are of the whole time", view,
    (range) => setFigures(element, of(range)));
  view.texts.push(() => `\nAccesses over time, ${brush.words}\n${stripsText(of(brush.now), largestOf(strips))}\n`);
}

/** What the row of an object begins with: its name, or that of its memory. */
function objectName(table: Table, row: number): string {
  return ["object", "kind", "module"].map((name) => table.words(row, name)).find((words) => words !== "") ?? "-";
}

function tabs(parts: readonly Part[], chosen: Part): HTMLElement {
  return h("nav", { class: "tabs", "aria-label": "About" }, ...parts.map((part) =>
    h("a", { href: addressOf("memory", part.id), "aria-current": part === chosen ? "true" : undefined }, part.title)));
}

export const memory: Page = {
  id: "memory",
  title: "Memory",
  has: (data) => data.has("memory"),
  async render(root, view) {
    const parts = PARTS.filter((part) => view.data.find("memory", part.block) >= 0);
    const part = parts.find((p) => p.id === view.route.about) ?? parts[0]!;
    const tables = await view.data.load(view.data.find("memory", part.block));
    root.append(tabs(parts, part));
    if (part.id === "") addSources(root, tables, view);
    else if (part.id === "histogram") addHistogram(root, tables, view);
    else if (part.id === "time") addTimes(root, tables, view);
    else {
      const answer = find(tables, "answer");
      const times = view.data.find("memory", "object times");
      if (answer !== undefined) addTable(root, answer, view);
      if (times >= 0) addObjectTimes(root, await view.data.load(times), view);
      for (const table of tables.filter((t) => t !== answer)) addTable(root, table, view);
    }
  },
};
