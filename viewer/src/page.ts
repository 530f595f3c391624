// SPDX-License-Identifier: Apache-2.0
// What a page is, and how any table is shown on one.
import type { Data, Table } from "./data.js";
import { button, copy, h } from "./dom.js";
import { Grid, type GridOptions } from "./grid.js";
import { shownWithUnit } from "./human.js";
import { legend } from "./marks.js";
import { factsText, marksOf } from "./text.js";
import { codeOf, noteOf, unbroken, withCode } from "./words.js";

/** An address behind the "#": a page, what it is about, and the state of its parts. */
export interface Route {
  readonly page: string;
  readonly about: string;
  readonly state: URLSearchParams;
}

export interface View {
  readonly data: Data;
  readonly route: Route;
  /** Keeps the state in the address. */
  readonly keep: (state: URLSearchParams) => void;
  /** Parts that make up the text twin, in order. */
  readonly texts: (() => string)[];
  readonly grids: Grid[];
  /** What is done once the page is in the document. */
  readonly shown: (() => void)[];
}

export interface Page {
  readonly id: string;
  readonly title: string;
  /** A page of one thing (a function) is not in the menu. */
  readonly isHidden?: boolean;
  /** Does this file have data for it? */
  readonly has: (data: Data) => boolean;
  readonly render: (root: HTMLElement, view: View) => Promise<void>;
}

export function addressOf(page: string, about = "", state?: URLSearchParams): string {
  const query = state?.toString() ?? "";
  return `#${page}${about === "" ? "" : "/" + encodeURIComponent(about)}${query === "" ? "" : "?" + query}`;
}

export function parseAddress(hash: string): Route {
  const [path = "", query = ""] = hash.replace(/^#/, "").split("?", 2);
  const [page = "", about = ""] = path.split("/", 2);
  let words = about;
  try {
    words = decodeURIComponent(about);
  } catch {
    // an address that was typed: taken as it is
  }
  return { page, about: words, state: new URLSearchParams(query) };
}

/** Sentences: the first stands out. A command among them can be copied. */
export function addSentences(root: HTMLElement, table: Table, view: View): void {
  const lines: string[] = [];
  for (let row = 0; row < table.rows; row++) {
    const words = table.words(row, "answer"), command = table.words(row, "command");
    lines.push([words, command].filter((s) => s !== "").join(" "));
    root.append(command !== "" ? commandLine(command, words === "" ? "" : `${words} `)
      : h("p", { class: row === 0 ? "lead" : "sentence" }, ...withCode(words)));
  }
  view.texts.push(() => lines.join("\n") + "\n");
}

/** "cyclops annotate chase" as something to copy, with words before it. */
export function commandLine(command: string, before = ""): HTMLElement {
  return h("p", { class: "command" }, before, codeOf(command),
    button("Copy", () => void copy(command, "Command"), { "aria-label": `Copy ${command}` }));
}

/** The value of a fact: what is a command is shown as one. */
const valueOf = (name: string, words: string): (Node | string)[] =>
  (name === "command" || /^cyclops /.test(words) ? [codeOf(words)] : unbroken(words));

/** A row as a list of names and values; absent ones are left out. */
export function factsOf(table: Table, row: number, columns: readonly number[]): HTMLElement {
  return h("dl", { class: "facts", "data-table": table.name, "data-row": row },
    ...columns.filter((c) => table.at(row, c) !== null).flatMap((c) => {
      const mark = table.mark(row, c);
      return [
        h("dt", { title: table.columns[c]!.meaning }, table.columns[c]!.title),
        h("dd", {
          "data-column": table.columns[c]!.name, "data-value": String(table.at(row, c)),
          "data-mark": mark === "exact" ? undefined : mark,
        }, ...valueOf(table.columns[c]!.name, shownWithUnit(table, row, c))),
      ];
    }));
}

/** What the marks of such a list mean; null: it has none. */
export function factsLegend(table: Table, row: number, columns: readonly number[]): HTMLElement | null {
  const words = legend(table, marksOf(table, [row], columns)).join("; ");
  return words === "" ? null : h("p", { class: "note legend" }, words);
}

function addFacts(root: HTMLElement, table: Table, view: View): void {
  const rows = Array.from({ length: table.rows }, (_, row) => row);
  root.append(h("dl", { class: "facts", "data-table": table.name }, ...rows.flatMap((row) => [
    h("dt", {}, String(table.at(row, 0) ?? "")), h("dd", {}, ...valueOf(String(table.at(row, 0) ?? ""), String(table.at(row, 1) ?? ""))),
  ])));
  view.texts.push(() => rows.map((row) => `${String(table.at(row, 0))}: ${String(table.at(row, 1))}\n`).join(""));
}

function addNotes(root: HTMLElement, table: Table, view: View): void {
  if (table.raw.notes.length === 0) return;
  root.append(...table.raw.notes.map(noteOf));
  view.texts.push(() => table.raw.notes.join("\n") + "\n");
}

/** Something to choose from: ids with titles. */
export function chooser(
  label: string, values: readonly (readonly [string, string])[], value: string, onChange: (value: string) => void,
): HTMLElement {
  const select = h("select", { "aria-label": label }, ...values.map(([id, title]) => h("option", { value: id }, title)));
  select.value = value;
  select.addEventListener("change", () => onChange(select.value));
  return h("span", {}, `${label} `, select);
}

export function addGrid(root: HTMLElement, table: Table, view: View, options: GridOptions = {}): Grid {
  const grid = new Grid(table, options);
  root.append(grid.element);
  view.grids.push(grid);
  view.texts.push(() => grid.text());
  return grid;
}

/** Any table in its style, below its heading. */
export function addTable(root: HTMLElement, table: Table, view: View, options: GridOptions = {}): void {
  const isAnswer = table.raw.style === "answer";
  if (!isAnswer && table.raw.title !== undefined && table.rows > 0) {
    root.append(h("h2", {}, table.title));
    view.texts.push(() => `\n${table.title}\n`);
  }
  if (isAnswer) addSentences(root, table, view);
  else if (table.rows > 0 && table.raw.style === "facts" && table.columns.length === 2) addFacts(root, table, view);
  else if (table.rows > 0) {
    addGrid(root, table, view, { plain: table.rows < 12, ...options });
    return;
  }
  addNotes(root, table, view);
}

/** A row of facts for programs, out of the way. */
export function addProgramFacts(root: HTMLElement, table: Table, view: View): void {
  if (table.rows === 0) return;
  const all = table.columns.map((_, i) => i);
  root.append(h("details", {}, h("summary", {}, table.title),
    ...Array.from({ length: table.rows }, (_, row) => row).flatMap((row) => [factsOf(table, row, all), factsLegend(table, row, all)])));
  view.texts.push(() => `\n${table.title}\n` +
    Array.from({ length: table.rows }, (_, row) => factsText(table, row, all)).join("\n"));
}
