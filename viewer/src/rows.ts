// SPDX-License-Identifier: Apache-2.0
// Which rows of a table are shown, in which order: the filter and the sorting of a grid.
import type { Column, Table, Value } from "./data.js";

/** Quantities are largest first; names, addresses and ids smallest first, as `--sort` does. */
export function descendsFirst(c: Column): boolean {
  return c.type !== "text" && c.type !== "hex" && c.type !== "bool" && (c.unit !== "" || c.type === "number");
}

function compareValues(a: Value, b: Value, c: Column): number {
  if (c.type === "text") return String(a) < String(b) ? -1 : String(a) > String(b) ? 1 : 0;
  if (c.type === "hex") return String(a).length - String(b).length || (String(a) < String(b) ? -1 : a === b ? 0 : 1);
  return Number(a) - Number(b);
}

/** Sorts by a column; absent cells last, ties as they were. */
export function sortRows(table: Table, rows: number[], column: number, descending: boolean): void {
  const c = table.columns[column]!;
  const order = descending ? -1 : 1;

  rows.sort((a, b) => {
    const x = table.at(a, column);
    const y = table.at(b, column);
    if (x === null || y === null) return x === y ? a - b : x === null ? 1 : -1;
    return order * compareValues(x, y, c) || a - b;
  });
}

type Test = (row: number) => boolean;

const COMPARISON = /^([\w#]+)(>=|<=|!=|>|<|=)(.+)$/;

function comparison(table: Table, name: string, operator: string, wanted: string): Test | null {
  const column = table.columns.findIndex((c) => c.name === name || c.title === name);
  const c = table.columns[column];
  if (c === undefined) return null;
  if (c.type === "text" || c.type === "hex" || c.type === "bool") {
    const words = wanted.toLowerCase();
    const has: Test = (row) => String(table.at(row, column) ?? "").toLowerCase().includes(words);
    return operator === "=" ? has : operator === "!=" ? (row) => !has(row) : null;
  }
  const limit = Number(wanted.replace(/%$/, "")) / (c.flags.includes("share") ? 100 : 1);
  if (Number.isNaN(limit)) return null;
  return (row) => {
    const value = table.at(row, column);
    if (value === null) return false;
    const difference = Number(value) - limit;
    switch (operator) {
      case ">": return difference > 0;
      case "<": return difference < 0;
      case ">=": return difference >= 0;
      case "<=": return difference <= 0;
      case "=": return difference === 0;
      default: return difference !== 0;
    }
  };
}

/**
 * Words, all of which a row must have in its texts ("!word": must not), and comparisons ("samples>100",
 * "module=libc", "share>=5": shares are in per cent).
 */
export function filterOf(table: Table, filter: string): Test | null {
  const texts = table.columns.flatMap((c, i) => (c.type === "text" && !c.flags.includes("spark") ? [i] : []));
  const tests = filter.split(/\s+/).filter((word) => word !== "").map((word): Test => {
    const parts = COMPARISON.exec(word);
    const compared = parts === null ? null : comparison(table, parts[1]!, parts[2]!, parts[3]!);
    if (compared !== null) return compared;
    const negated = word.startsWith("!") && word.length > 1;
    const words = (negated ? word.slice(1) : word).toLowerCase();
    return (row) => negated !== texts.some((c) => String(table.at(row, c) ?? "").toLowerCase().includes(words));
  });
  return tests.length === 0 ? null : (row) => tests.every((test) => test(row));
}

/** Rows in the order of a tree: each behind its parent, siblings as `rows` has them; none below a closed row. */
export function treeOrder(table: Table, rows: readonly number[], closed: ReadonlySet<number>): number[] {
  const children = new Map<number, number[]>();
  const ordered: number[] = [];
  const add = (parent: number): void => {
    for (const row of children.get(parent) ?? []) {
      ordered.push(row);
      if (!closed.has(row)) add(row);
    }
  };
  for (const row of rows) {
    const siblings = children.get(table.parent(row));
    if (siblings === undefined) children.set(table.parent(row), [row]);
    else siblings.push(row);
  }
  add(-1);
  return ordered;
}

/** The rows that pass, with all that are above them in the tree. */
export function withParents(table: Table, rows: readonly number[]): number[] {
  const kept = new Set<number>();
  for (const row of rows) for (let at = row; at >= 0 && !kept.has(at); at = table.parent(at)) kept.add(at);
  return [...kept].sort((a, b) => a - b);
}
