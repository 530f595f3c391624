// SPDX-License-Identifier: Apache-2.0
// The code of a function as its block of data has it: instructions, what each took, and which lines they are of.
import { partsOf, type Part, type SourcePart } from "./bars.js";
import { Table, type Column } from "./data.js";
import { humanNumber } from "./human.js";

const SHARE: Column = { name: "", title: "", unit: "", type: "number", meaning: "", flags: ["share"] };
const MOST_EVENTS = 3;

export const percent = (share: number): string => humanNumber(share, SHARE, 1);

export interface Code {
  readonly instructions: Table;
  /** By row: its part of the function's latency, or of the samples of its first event. */
  readonly weights: readonly number[];
  readonly what: string;
  readonly parts: readonly (readonly Part[] | null)[];
  readonly sources: readonly (readonly SourcePart[])[];
  /** Names of the columns with shares of sampled events. */
  readonly events: readonly string[];
  /** Rows by address and by "file:line". */
  readonly byAddress: ReadonlyMap<string, number>;
  readonly byLine: ReadonlyMap<string, number[]>;
}

export function lineKey(table: Table, row: number): string {
  return `${table.words(row, "file")}:${table.words(row, "line")}`;
}

/** Shares of sampled events by instruction: a column for each of the most frequent events that are not SPE's. */
function eventColumns(events: Table, byAddress: ReadonlyMap<string, number>, rows: number): [Column, (number | null)[]][] {
  const shares = new Map<string, { samples: number; cells: (number | null)[] }>();
  for (let i = 0; i < events.rows; i++) {
    if (events.get(i, "period") === null) continue;
    const name = events.words(i, "event");
    const of = shares.get(name) ?? { samples: 0, cells: new Array<number | null>(rows).fill(null) };
    const at = byAddress.get(events.words(i, "address"));
    if (at !== undefined) of.cells[at] = Number(events.get(i, "share"));
    of.samples += Number(events.get(i, "samples"));
    shares.set(name, of);
  }
  return [...shares].sort((a, b) => b[1].samples - a[1].samples).slice(0, MOST_EVENTS).map(([name, of]) => [
    { ...SHARE, name: `event ${name}`, title: name, flags: ["share", "bar"], meaning: `part of the function's ${name}` },
    of.cells,
  ]);
}

export function readCode(tables: readonly Table[]): Code | null {
  const find = (name: string): Table | undefined => tables.find((t) => t.name === name);
  const raw = find("instructions");
  const events = find("events");
  const sourceRows = find("sources");
  if (raw === undefined || raw.rows === 0) return null;

  const byAddress = new Map<string, number>();
  const byLine = new Map<string, number[]>();
  const sources: SourcePart[][] = Array.from({ length: raw.rows }, () => []);
  for (let row = 0; row < raw.rows; row++) {
    byAddress.set(raw.words(row, "address"), row);
    const key = lineKey(raw, row);
    byLine.set(key, [...(byLine.get(key) ?? []), row]);
  }
  for (let i = 0; sourceRows !== undefined && i < sourceRows.rows; i++) {
    const at = byAddress.get(sourceRows.words(i, "address"));
    if (at !== undefined)
      sources[at]!.push({
        name: sourceRows.words(i, "source"), size: Number(sourceRows.get(i, "spe_records")), level: sourceRows.words(i, "level"),
      });
  }
  const added = events === undefined ? [] : eventColumns(events, byAddress, raw.rows);
  const parts = Array.from({ length: raw.rows }, (_, row) => partsOf(raw, row));
  const hasSpe = Array.from({ length: raw.rows }, (_, row) => raw.get(row, "share")).some((share) => share !== null);
  const weights = Array.from({ length: raw.rows }, (_, row) =>
    Number((hasSpe ? raw.get(row, "share") : added[0]?.[1][row]) ?? 0));
  const word = (list: readonly Part[] | null): string | null =>
    list === null || list.length === 0 ? null : list.map((p) => `${p.name} ${p.size}`).join(", ");
  const columns = raw.columns.map((c): Column => (c.name === "share" ? { ...c, flags: [...c.flags, "bar"] } : c));
  const text: Column = { ...SHARE, type: "text", flags: [] };
  const instructions = new Table({
    ...raw.raw,
    title: "Instructions",
    columns: [
      ...columns, ...added.map(([c]) => c),
      { ...text, name: "parts", title: "latency", meaning: "mean issue, translation and execution latency, in cycles" },
      { ...text, name: "sources", title: "data sources", meaning: "where its data came from, in records" },
    ],
    cells: [...raw.raw.cells, ...added.map(([, cells]) => cells), parts.map(word), sources.map(word)],
    marks: [...raw.raw.marks, ...added.map(() => ({})), {}, {}],
  });
  return {
    instructions, weights, parts, sources, byAddress, byLine, events: added.map(([c]) => c.name),
    what: hasSpe ? "latency" : added[0]?.[0].title ?? "records",
  };
}
