// SPDX-License-Identifier: Apache-2.0
// What is wrong, where, what it costs, what to change: the report, a card for each finding.
import type { Table } from "../data.js";
import { h } from "../dom.js";
import {
  addGrid, addProgramFacts, addressOf, addTable, commandLine, factsLegend, factsOf, type Page, type View,
} from "../page.js";
import { snippetOf, snippetWithoutFinding } from "../snippet.js";
import { noteOf, withCode } from "../words.js";
import { FUNCTION_COLUMNS, functionAddress } from "./functions.js";

/** Tables that cards show by the number of the finding. */
const GROUNDS = ["evidence", "loops"];

/** What answers without a finding say of the time that nothing explains. */
const UNEXPLAINED = "unexplained";

/** Tables that have a place of their own here, or on the page of functions. */
const PLACED = [
  "answer", "summary", "findings", "next", "functions", "running", "waiting", "brief_facts", "capture", "elapsed", "user_code",
  "lines", "modules", "processes", "addresses",
];

/** Tables of code, one of which is shown here: addresses where no function is known, else what the report begins with. */
const OF_CODE = ["elapsed", "functions"];

/** Functions on this page. */
const SHOWN = 8;

/** The share as a bar, with half of its 95 % interval to both sides; a limit is hatched. */
export function costBar(findings: Table, row: number, isLimit = false): HTMLElement | null {
  const share = findings.get(row, "share");
  const error = Number(findings.get(row, "share_error") ?? 0);
  if (typeof share !== "number") return null;
  const percent = (part: number): string => `${100 * Math.min(1, Math.max(0, part))}%`;
  const bar = h("div", { class: isLimit ? "cost-bar limit" : "cost-bar", "aria-hidden": "true" },
    h("div", { class: "part" }), h("div", { class: "error" }));
  bar.style.setProperty("--part", percent(share));
  bar.style.setProperty("--low", percent(share - error));
  bar.style.setProperty("--high", percent(share + error));
  return bar;
}

function term(name: string, value: Node | string): HTMLElement[] {
  if (value === "") return [];
  return [h("dt", {}, name), h("dd", {}, ...(typeof value === "string" ? withCode(value) : [value]))];
}

/** What to change, in full at the first finding that wants it. */
function fix(summary: Table, findings: Table, row: number): string {
  const words = findings.words(row, "try");
  const same = Array.from({ length: row }, (_, i) => i).find((i) => words !== "" && findings.words(i, "try") === words);
  return same === undefined ? words || summary.words(row, "fix") : `as in ${same + 1}: ${summary.words(row, "fix")}`;
}

function place(summary: Table, findings: Table, row: number, view: View): Node {
  const where = [summary.words(row, "where"), summary.words(row, "line")].filter((s) => s !== "").join("  ");
  const isShared = findings.words(row, "writer") !== "" && view.data.has("sharing");
  const address = isShared ? addressOf("sharing") : functionAddress(view, findings, row);
  if (address === null) return h("span", {}, where);
  return h("span", {}, h("a", { href: address }, where), isShared ? " (drawn byte by byte, with the fix)" : "");
}

/** What is known of the loops that a finding is about, and what it rests on: for those who doubt it. */
function grounds(tables: readonly Table[], findings: Table, row: number): HTMLElement | null {
  const words = findings.words(row, "evidence");
  const lists = tables.filter((t) => t.name === "loops" || t.name === "evidence").flatMap((t) => {
    const columns = t.columns.flatMap((c, k) => (c.name === "finding" ? [] : [k]));
    return Array.from({ length: t.rows }, (_, i) => i).filter((i) => t.get(i, "finding") === row + 1)
      .flatMap((i) => [factsOf(t, i, columns), factsLegend(t, i, columns)]);
  });
  if (lists.length === 0 && words === "") return null;
  return h("details", {}, h("summary", {}, "What it rests on"), words === "" ? null : h("p", {}, ...withCode(words)), ...lists);
}

async function card(tables: readonly Table[], summary: Table, findings: Table, row: number, view: View): Promise<HTMLElement> {
  const title = `finding-${row + 1}`;
  const loops = tables.find((t) => t.name === "loops");
  const code = await snippetOf(view, findings, loops, row);
  const said = h("div", { class: "said" },
    h("h2", { id: title }, `${summary.words(row, "number")}. ${summary.words(row, "what")}`),
    h("p", { class: "cost" }, summary.words(row, "cost_sentence")),
    costBar(findings, row, summary.get(row, "is_limit") === true),
    h("p", { class: "claim" }, findings.words(row, "claim")),
    h("dl", { class: "terms" },
      ...term("where", place(summary, findings, row, view)),
      ...term("evidence", summary.words(row, "evidence") || findings.words(row, "evidence")),
      ...term("fix", fix(summary, findings, row)),
      ...term("gain", summary.words(row, "gain")),
      ...term("confidence", findings.words(row, "sure")),
      ...term("next", findings.words(row, "next") === "" ? "" : commandLine(findings.words(row, "next")))),
    grounds(tables, findings, row));
  return h("article", { class: code === null ? "card" : "card with-code", "aria-labelledby": title, "data-finding": row + 1 }, said, code);
}

const lineOf = (name: string, words: string): string => (words === "" ? "" : `   ${name}: ${words}\n`);

async function addCards(root: HTMLElement, tables: readonly Table[], view: View): Promise<void> {
  const summary = tables.find((t) => t.name === "summary");
  const findings = tables.find((t) => t.name === "findings");
  if (summary === undefined || findings === undefined || summary.rows === 0) return;
  const rows = Array.from({ length: summary.rows }, (_, row) => row);
  const cards = await Promise.all(rows.map((row) => card(tables, summary, findings, row, view)));
  root.append(h("div", { class: cards.some((c) => c.classList.contains("with-code")) ? "wide-cards" : "cards" }, ...cards));
  view.texts.push(() => "\n" + rows.map((row) => {
    const parts = ["what", "where", "line"].map((c) => summary.words(row, c)).filter((s) => s !== "");
    return `${summary.words(row, "number")}. ${[...parts, summary.words(row, "cost_sentence"), summary.words(row, "evidence")].join("  ")}\n` +
      lineOf("fix", summary.words(row, "fix"));
  }).join("") + "\n");
}

/** The commands that show more, as the report ends with. */
function addNext(root: HTMLElement, table: Table | undefined, view: View): void {
  if (table === undefined || table.rows === 0) return;
  const rows = Array.from({ length: table.rows }, (_, row) => row);
  root.append(h("h2", {}, "Next"), h("dl", { class: "terms" }, ...rows.flatMap((row) => [
    h("dt", {}, table.words(row, "label")), h("dd", {}, commandLine(table.words(row, "command"))),
  ])));
  view.texts.push(() => "\nnext:\n" + rows.map((row) => `  ${table.words(row, "label")} ${table.words(row, "command")}\n`).join(""));
}

function addNotesOf(root: HTMLElement, table: Table | undefined, view: View): void {
  if (table === undefined || table.raw.notes.length === 0) return;
  root.append(...table.raw.notes.map(noteOf));
  view.texts.push(() => table.raw.notes.join("\n") + "\n");
}

/** The rows at the top, and where the others are. */
function addHead(root: HTMLElement, table: Table | undefined, title: string, view: View): void {
  if (table === undefined || table.rows === 0) return;
  root.append(h("h2", {}, title));
  view.texts.push(() => `\n${title}\n`);
  addGrid(root, table, view, {
    plain: true, most: SHOWN, linkColumns: FUNCTION_COLUMNS, link: (row) => functionAddress(view, table, row),
  });
  if (table.rows > SHOWN)
    root.append(h("p", {}, h("a", { href: addressOf("functions") }, `${table.rows - SHOWN} more`)));
}

export const answer: Page = {
  id: "answer",
  title: "Answer",
  has: (data) => data.has("answer"),
  async render(root, view) {
    const tables = await view.data.load(view.data.find("answer"));
    const find = (name: string): Table | undefined => tables.find((t) => t.name === name && t.raw.readers !== "programs");
    const sentences = find("answer");

    if (sentences !== undefined) addTable(root, sentences, view);
    addNotesOf(root, find("summary"), view);
    await addCards(root, tables, view);
    // Without a finding the answer says why; with one the summary has the notes.
    const code = find("addresses") ?? tables.find((t) => OF_CODE.includes(t.name) && t.rows > 0);
    if ((find("summary")?.rows ?? 0) === 0) {
      const snippet = await snippetWithoutFinding(view, tables.find((t) => t.name === UNEXPLAINED), code);
      if (snippet !== null) root.append(snippet);
    }
    addHead(root, code, code?.title ?? "", view);
    for (const name of ["running", "waiting"]) {
      const table = find(name);
      if (table !== undefined) addTable(root, table, view, { linkColumns: FUNCTION_COLUMNS, link: (row) => functionAddress(view, table, row) });
    }
    for (const table of tables)
      if (table.raw.readers !== "programs" && !PLACED.includes(table.name) && !GROUNDS.includes(table.name) && table.rows > 0)
        addTable(root, table, view);
    addNext(root, find("next"), view);
    root.append(h("h2", {}, "Capture"));
    addNotesOf(root, find("brief_facts"), view);
    const facts = find("capture");
    if (facts !== undefined) addTable(root, facts, view);
    for (const table of tables.filter((t) => t.raw.readers === "programs" && !GROUNDS.includes(t.name)))
      addProgramFacts(root, table, view);
  },
};
