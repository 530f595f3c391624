// SPDX-License-Identifier: Apache-2.0
// What fell into slices of time, and into threads: tables of src/html/pages/timeline.c, added up again.
import type { Column, Table } from "./data.js";
import { absentWords, humanNumber } from "./human.js";

/** As the text screens mark shares (src/estimate/shares.c). */
const SPARSE_BELOW = 10;
const LEAST_SATURATED = 0.01;
const INTERVAL_95 = 1.96;

/** What fell into a slice, or into a range of them. */
export interface Sum {
  readonly samples: number;
  readonly weight: number;
  readonly saturated: number;
  /** Of the weights; 0: all weigh the same. */
  readonly squares: number;
}

/** Slices, the last one not among them. */
export interface Range {
  readonly from: number;
  readonly to: number;
}

export const NOTHING: Sum = { samples: 0, weight: 0, saturated: 0, squares: 0 };
export const add = (a: Sum, b: Sum): Sum =>
  ({ samples: a.samples + b.samples, weight: a.weight + b.weight, saturated: a.saturated + b.saturated, squares: a.squares + b.squares });

const SUMS = ["samples", "weight", "saturated", "squares"] as const;
const sumAt = (table: Table, row: number): Sum => {
  const [samples, weight, saturated, squares] = SUMS.map((name) => Number(table.get(row, name) ?? 0)) as [number, number, number, number];
  return { samples, weight, saturated, squares };
};

/** A table of rows with what fell into each slice. */
export class Timed {
  private readonly slices: Map<number, Sum>[];

  constructor(readonly rows: Table, slices: Table) {
    this.slices = Array.from({ length: rows.rows }, () => new Map<number, Sum>());
    for (let i = 0; i < slices.rows; i++) this.slices[Number(slices.get(i, "row"))]?.set(Number(slices.get(i, "slice")), sumAt(slices, i));
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
      (absentWords(this.rows.columns[this.keys()[0] ?? -1]) || "-");
  }
  /** The columns before the sums, without the event. */
  keys(): number[] {
    return this.rows.columns.flatMap((c, i) => ([...SUMS, "event", "unit"].includes(c.name) ? [] : [i]));
  }
}

/** The time of a capture in slices, and what fell into them: of one run. */
export class Times {
  readonly steps: number;
  private readonly start: number;
  private readonly width: number;
  private readonly time: Column;
  readonly all: Timed;
  /** By name: "threads", "functions", "sources"; those that are there. */
  readonly groups: ReadonlyMap<string, Timed>;

  constructor(private readonly tables: readonly Table[]) {
    const slices = this.find("slices")!;
    this.steps = Number(slices.get(0, "slices"));
    this.start = Number(slices.get(0, "start_ns"));
    this.width = Number(slices.get(0, "width_ns"));
    this.time = slices.columns[slices.column("start_ns")]!;
    this.all = new Timed(this.find("all")!, this.find("all_slices")!);
    this.groups = new Map([["threads", "thread_slices"], ["sources", "source_slices"], ["functions", "function_slices"]]
      .flatMap(([name, parts]): [string, Timed][] => {
        const rows = this.find(name!);
        return rows === undefined ? [] : [[name!, new Timed(rows, this.find(parts!)!)]];
      }));
  }

  private find(name: string): Table | undefined {
    return this.tables.find((t) => t.name === name);
  }
  get whole(): Range {
    return { from: 0, to: this.steps };
  }
  events(): string[] {
    return Array.from({ length: this.all.rows.rows }, (_, row) => this.all.rows.words(row, "event"));
  }
  unit(event: string): string {
    return this.all.rows.words(this.all.of(event)[0] ?? 0, "unit");
  }
  /** All records of an event in a range. */
  sum(event: string, range: Range): Sum {
    return this.all.of(event).map((row) => this.all.sum(row, range)).reduce(add, NOTHING);
  }
  startOf(slice: number): number {
    return Math.round(this.start + slice * this.width);
  }
  moment(slice: number): string {
    return humanNumber(this.startOf(slice), this.time, 1);
  }
  words(range: Range): string {
    return `${this.moment(range.from)} to ${this.moment(range.to)}`;
  }
  /** What each function took in each thread: by row of functions, then of threads. */
  byThread(): ReadonlyMap<number, ReadonlyMap<number, Sum>> {
    const by = new Map<number, Map<number, Sum>>();
    const table = this.find("thread_functions");
    for (let i = 0; table !== undefined && i < table.rows; i++) {
      const row = Number(table.get(i, "function_row"));
      const threads = by.get(row) ?? new Map<number, Sum>();
      threads.set(Number(table.get(i, "thread_row")), sumAt(table, i));
      by.set(row, threads);
    }
    return by;
  }
}

/** What the weight is called: of SPE records latency, of samples of a clock time. */
export const WEIGHTS: Readonly<Record<string, string>> = { cycles: "latency", ns: "cpu time", events: "events", entries: "entries" };

/** How far a part of the weight can be trusted. */
export function shareMark(part: Sum, whole: Sum): string {
  if (part.samples < SPARSE_BELOW) return "sparse";
  const little = LEAST_SATURATED * whole.weight;
  const own = part.saturated > little;
  const others = whole.saturated - part.saturated > little;
  if (part.weight === whole.weight || (!own && !others)) return "exact";
  return own && others ? "uncertain" : own ? "saturated" : "at-most";
}

const spread = (squares: number, n: number, weight: number): number =>
  (squares <= 0 || weight <= 0 || n <= 0 ? 1 : (squares * n) / (weight * weight));

/** Half of the 95 % interval of a part: of the samples, or of their weight. */
export function shareError(part: Sum, whole: Sum, bySamples: boolean): number {
  const share = bySamples ? part.samples / whole.samples : part.weight / whole.weight;
  const n = part.samples;
  const rest = whole.samples - n;
  if (n === 0 || rest <= 0 || share >= 1) return 0;
  const [own, others] = bySamples ? [1, 1]
    : [spread(part.squares, n, part.weight), spread(whole.squares - part.squares, rest, whole.weight - part.weight)];
  return INTERVAL_95 * share * (1 - share) * Math.sqrt(own / n + others / rest);
}
