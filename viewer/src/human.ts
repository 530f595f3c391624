// SPDX-License-Identifier: Apache-2.0
// Numbers as people read them, by the rules of src/table/human.c, so that pages and screens show the same.
import type { Column, Table, Value } from "./data.js";
import { sign } from "./marks.js";

/** Values from `from` on are divided and get a suffix. */
interface Step {
  readonly from: number;
  readonly divisor: number;
  readonly suffix: string;
}

const step = (unit: number, suffix: string): Step => ({ from: 0.9995 * unit, divisor: unit, suffix });
const first = (suffix: string): Step => ({ from: 0, divisor: 1, suffix });

const COUNTS: readonly Step[] = [
  first(""), { from: 1e7, divisor: 1e6, suffix: " M" }, step(1e9, " G"), step(1e12, " T"), step(1e15, " P"),
  step(1e18, " E"),
];
const SIZES: readonly Step[] = [
  first(" B"), { from: 10000, divisor: 1024, suffix: " KiB" },
  { from: 1000 * 1024, divisor: 1024 ** 2, suffix: " MiB" },
  { from: 1000 * 1024 ** 2, divisor: 1024 ** 3, suffix: " GiB" },
  { from: 1000 * 1024 ** 3, divisor: 1024 ** 4, suffix: " TiB" },
];
const SCALES: Readonly<Record<string, readonly Step[]>> = {
  ns: [first(" ns"), step(1e3, " µs"), step(1e6, " ms"), step(1e9, " s")],
  bytes: SIZES,
  Hz: [first(" Hz"), step(1e3, " kHz"), step(1e6, " MHz"), step(1e9, " GHz")],
  "bytes/s": [first(" B/s"), step(1e3, " kB/s"), step(1e6, " MB/s"), step(1e9, " GB/s"), step(1e12, " TB/s")],
};

function findStep(scale: readonly Step[], magnitude: number): Step {
  let i = scale.length - 1;
  while (i > 0 && magnitude < scale[i]!.from) i--;
  return scale[i]!;
}

/** Decimals for numbers up to this size, so that they have three or four digits. */
export function decimalsFor(largest: number): number {
  if (largest >= 1000 || !(largest > 0)) return 0;
  if (largest >= 10) return 1;
  let decimals = 2;
  for (; largest < 0.1 && decimals < 6; largest *= 10) decimals++;
  return decimals;
}

function grouped(digits: string): string {
  return digits.replace(/\B(?=(\d{3})+(?!\d))/g, " ");
}

function decimal(negative: boolean, magnitude: number, decimals: number): string {
  if (magnitude >= 1e12) return (negative ? "-" : "") + magnitude.toExponential(2);
  const one = 10 ** decimals;
  const scaled = Math.floor(magnitude * one + 0.5);
  const whole = grouped(String(Math.floor(scaled / one)));
  const fraction = decimals > 0 ? "." + String(scaled % one).padStart(decimals, "0") : "";
  return (negative && scaled > 0 ? "-" : "") + whole + fraction;
}

function percent(negative: boolean, value: number): string {
  return value > 0 && value < 0.05 && !negative ? "<0.1 %" : decimal(negative, value, 1) + " %";
}

function scaledBy(negative: boolean, magnitude: number, by: Step): string {
  const mantissa = magnitude / by.divisor;
  const decimals = magnitude > 0 ? (mantissa < 9.995 ? 2 : 1) : 0;
  return decimal(negative, mantissa, decimals) + by.suffix;
}

/** A size that is a whole number of a unit is shown so: 2097152 is "2 MiB". */
function exactStep(scale: readonly Step[], size: number): Step | undefined {
  if (scale !== SIZES || size === 0) return undefined;
  const by = [...SIZES].reverse().find((s) => s.divisor > 1 && size % s.divisor === 0);
  return by !== undefined && size / by.divisor < 10000 ? by : undefined;
}

function whole(negative: boolean, magnitude: number, scale: readonly Step[]): string {
  const exact = exactStep(scale, magnitude);
  const by = exact ?? findStep(scale, magnitude);
  if (by !== scale[0] && by !== exact) return scaledBy(negative, magnitude, by);
  return (negative ? "-" : "") + grouped(String(magnitude / by.divisor)) + by.suffix;
}

/** A number in a column, without its mark. `decimals`: decimalsFor() of the largest one. */
export function humanNumber(value: number, column: Column, decimals: number): string {
  const negative = value < 0;
  const magnitude = Math.abs(value);
  const scale = SCALES[column.unit];

  if (column.flags.includes("share")) return percent(negative, 100 * magnitude);
  if (column.unit === "%") return percent(negative, magnitude);
  if (column.type === "number") {
    const by = findStep(scale ?? COUNTS, magnitude);
    return scale !== undefined || by !== COUNTS[0]
      ? scaledBy(negative, magnitude, by)
      : decimal(negative, magnitude, decimals);
  }
  if (column.unit === "") return String(value);
  return whole(negative, magnitude, scale ?? COUNTS);
}

const SPARKS = [".", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];

/** Amounts as a line of bars; "." is nothing. */
export function sparkOf(amounts: readonly (number | null)[], largest: number): string {
  return amounts.map((a) => (a === null || a <= 0 ? SPARKS[0]! : SPARKS[1 + Math.floor((7 * a) / largest + 0.5)]!)).join("");
}

/** What the text of an absent cell is. */
export function absentWords(column: Column | undefined): string {
  if (column === undefined) return "";
  if (column.flags.includes("source")) return "no data source";
  return column.type === "text" || column.flags.includes("blank") ? "" : "-";
}

/** A cell without its mark. */
export function humanValue(value: Value, column: Column, decimals: number): string {
  if (value === null) return absentWords(column);
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "number") return humanNumber(value, column, decimals);
  if (column.flags.includes("spark")) return [...value].map((digit) => SPARKS[Number(digit)] ?? "").join("");
  if (column.type === "count" || column.type === "signed") return humanNumber(Number(value), column, decimals);
  return value;
}

const columnDecimals = new WeakMap<Table, Map<number, number>>();

/** Decimals of a column, by its largest unscaled fraction. */
export function decimalsOf(table: Table, column: number): number {
  let known = columnDecimals.get(table);
  if (known === undefined) columnDecimals.set(table, (known = new Map()));
  let decimals = known.get(column);
  if (decimals === undefined) {
    let largest = 0;
    if (table.columns[column]?.type === "number")
      for (let row = 0; row < table.rows; row++) {
        const value = Math.abs(Number(table.at(row, column)));
        if (value < 1e7 && value > largest) largest = value;
      }
    known.set(column, (decimals = decimalsFor(largest)));
  }
  return decimals;
}

const unsigned = (table: Table, row: number, column: number): string =>
  humanValue(table.at(row, column), table.columns[column]!, decimalsOf(table, column));

/** The mark whose sign a cell has: "<0.1 %" says itself that it is at most that. */
export function shownMark(table: Table, row: number, column: number): string {
  const mark = table.at(row, column) === null ? "exact" : table.mark(row, column);
  return mark === "at-most" && unsigned(table, row, column).startsWith("<") ? "exact" : mark;
}

/** A cell as the text screens show it, with the sign of its mark. */
export function shown(table: Table, row: number, column: number): string {
  const mark = sign(shownMark(table, row, column));
  return mark.before + unsigned(table, row, column) + mark.behind;
}

/** The same with its unit: "36.8 G cycles". */
export function shownWithUnit(table: Table, row: number, column: number): string {
  const c = table.columns[column]!;
  const words = shown(table, row, column);
  const names = c.flags.includes("share") || c.unit === "%" || c.unit in SCALES;
  return typeof table.at(row, column) !== "number" || c.unit === "" || names ? words : `${words} ${c.unit}`;
}
