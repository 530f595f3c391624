// SPDX-License-Identifier: Apache-2.0
// The text twin of a page: what "copy as text" copies.
import type { Table } from "./data.js";
import { shown, shownMark, shownWithUnit } from "./human.js";
import { legend } from "./marks.js";

const isText = (table: Table, column: number): boolean => table.columns[column]?.type === "text";

/** Depth of a row in a tree. */
export function depthOf(table: Table, row: number): number {
  let depth = 0;
  for (let at = table.parent(row); at >= 0; at = table.parent(at)) depth++;
  return depth;
}

/** Heading of a column with its unit. */
export function heading(table: Table, column: number): string {
  const c = table.columns[column]!;
  const named = c.flags.includes("share") || c.type === "text" || c.type === "hex" || c.type === "bool";
  const says = c.title.split(" ").at(-1) === c.unit;
  return c.unit === "" || named || says || ["ns", "bytes", "Hz", "bytes/s", "%"].includes(c.unit)
    ? c.title
    : `${c.title} (${c.unit})`;
}

/** The marks that these cells show, but those that notes of the table explain. */
export function marksOf(table: Table, rows: readonly number[], columns: readonly number[]): Set<string> {
  const marks = new Set<string>();
  for (const column of columns.filter((c) => table.hasMarks(c) && !table.columns[c]!.flags.includes("noted")))
    for (const row of rows) marks.add(shownMark(table, row, column));
  return marks;
}

/** Rows and columns of a table as lines, aligned. */
export function gridText(table: Table, rows: readonly number[], columns: readonly number[]): string {
  const lines = [columns.map((c) => heading(table, c))];

  for (const row of rows) {
    lines.push(columns.map((c) => {
      const indent = table.columns[c]!.flags.includes("tree") ? "  ".repeat(depthOf(table, row)) : "";
      return indent + shown(table, row, c);
    }));
  }
  const widths = columns.map((_, i) => lines.reduce((most, line) => Math.max(most, line[i]!.length), 0));
  const aligned = lines.map((line) =>
    line.map((cell, i) => (isText(table, columns[i]!) ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!)))
      .join("  ").trimEnd());
  return [...aligned, legend(table, marksOf(table, rows, columns)).join("   "), ...table.raw.notes].filter((line) => line !== "").join("\n") + "\n";
}

/** A line for each fact of a row: its name and value; then what their marks mean. */
export function factsText(table: Table, row: number, columns: readonly number[]): string {
  const marks = legend(table, marksOf(table, [row], columns)).join("   ");
  return columns.filter((c) => table.at(row, c) !== null)
    .map((c) => `${table.columns[c]!.title}: ${shownWithUnit(table, row, c)}\n`).join("") + (marks === "" ? "" : `${marks}\n`);
}

function csvCell(value: string): string {
  return /[",\n\r]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
}

/** The same rows and columns with raw numbers. */
export function gridCsv(table: Table, rows: readonly number[], columns: readonly number[]): string {
  const lines = [columns.map((c) => table.columns[c]!.name)];
  for (const row of rows) lines.push(columns.map((c) => csvCell(String(table.at(row, c) ?? ""))));
  return lines.map((line) => line.join(",") + "\n").join("");
}
