// SPDX-License-Identifier: Apache-2.0
// Cache lines that threads contend for, byte by byte, and their data with the fix: what `cyclops c2c` says.
import { drawBytes, type ByteRow, type Span } from "../bytes.js";
import type { Table } from "../data.js";
import { h } from "../dom.js";
import { addressOf, addTable, type Page, type View } from "../page.js";
import { noteOf, withCode } from "../words.js";
import { costBar } from "./answer.js";

const PARTS = [
  { id: "", title: "Contended lines" },
  { id: "lines", title: "All shared lines" },
  { id: "counters", title: "Counters" },
] as const;

/** Rows of accesses in a drawing; lines of a struct. */
const MOST_DRAWN = 24;
const MOST_LINES = 8;

/** What a finding says, in the order of the screen; further instructions stand behind the first. */
const TERMS = [
  ["fix", "fix"], ["writes", "writes"], ["reads", "reads"], ["cost", "cost"], ["gain", "gain"], ["sure", "confidence"],
  ["not", "excluded"],
] as const;

const rowsOf = (table: Table): number[] => Array.from({ length: table.rows }, (_, row) => row);
const find = (tables: readonly Table[], name: string): Table | undefined => tables.find((t) => t.name === name);
/** Bytes of a cache line; the sentences for people have the name of this table, too. */
const lineBytes = (tables: readonly Table[]): number =>
  tables.filter((t) => t.column("line_bytes") >= 0).map((t) => num(t, 0, "line_bytes"))[0] ?? 0;
const num = (table: Table, row: number, name: string): number => Number(table.get(row, name) ?? 0);

const plural = (n: number, one: string): string => `${n} ${one}${n === 1 ? "" : "s"}`;
const bytesWords = (offset: number, size: number): string =>
  size > 1 ? `bytes ${offset} to ${offset + size - 1}` : `byte ${offset}`;

/** Loads that another core's cache served, or that found the line modified. */
const waits = (t: Table, row: number): number =>
  Math.max(num(t, row, "peer_local") + num(t, row, "peer_remote"), num(t, row, "hitm_local") + num(t, row, "hitm_remote"));

/** "277 loads, 55 of them from another core's cache". */
function counts(t: Table, row: number): string {
  const contended = waits(t, row);
  return [
    num(t, row, "loads") === 0 ? "" : plural(num(t, row, "loads"), "load") +
      (contended === 0 ? "" : `, ${contended} of them from another core's cache`),
    num(t, row, "stores") === 0 ? "" : plural(num(t, row, "stores"), "store"),
    num(t, row, "atomics") === 0 ? "" : plural(num(t, row, "atomics"), "atomic"),
  ].filter((s) => s !== "").join(", ");
}

function kindOf(reads: number, writes: number): "reads" | "writes" | "both" {
  return writes === 0 ? "reads" : reads === 0 ? "writes" : "both";
}

const LETTERS = { reads: "R", writes: "W", both: "RW" } as const;

/** Who accessed the bytes of a line: a row for each instruction. */
function accessRows(accesses: Table, line: number): ByteRow[] {
  return rowsOf(accesses).filter((row) => accesses.get(row, "line") === line).map((row): ByteRow => {
    const offset = num(accesses, row, "offset");
    const size = accesses.get(row, "size") === null ? 1 : num(accesses, row, "size");
    const atomics = num(accesses, row, "atomics");
    const kind = kindOf(num(accesses, row, "loads") + atomics, num(accesses, row, "stores") + atomics);
    const who = [accesses.words(row, "place"), accesses.words(row, "source_line")].filter((s) => s !== "").join(" ");
    const tids = accesses.words(row, "tids").split(":").filter((s) => s !== "");
    const words = `${accesses.words(row, "field") || `+${offset}`}: ${accesses.words(row, "op")}, ${bytesWords(offset, size)}, ${who}, ` +
      `${tids.length === 1 ? "thread" : "threads"} ${tids.slice(0, 4).join(", ")}${tids.length > 4 ? ` and ${tids.length - 4} more` : ""}: ` +
      counts(accesses, row);
    return { words, spans: [{ offset, size, words, label: LETTERS[kind], kind }] };
  });
}

/** A member of the layouts, with those who access it. */
interface Member {
  readonly name: string;
  readonly type: string;
  readonly size: number;
  readonly row: number;
  readonly uses: readonly { thread: string; reads: number; writes: number }[];
}

/** Rows of layouts are a member and a thread each: by member. */
function membersOf(layouts: Table, rows: readonly number[]): Member[] {
  const members = new Map<string, Member & { uses: { thread: string; reads: number; writes: number }[] }>();
  for (const row of rows) {
    const key = `${layouts.words(row, "object")} ${layouts.words(row, "offset")} ${layouts.words(row, "field")}`;
    let member = members.get(key);
    if (member === undefined)
      members.set(key, (member = {
        name: layouts.words(row, "field"), type: layouts.words(row, "type"), size: num(layouts, row, "size"), row, uses: [],
      }));
    const thread = layouts.words(row, "role") || layouts.words(row, "tid");
    const atomics = num(layouts, row, "atomics");
    if (thread !== "")
      member.uses.push({ thread, reads: num(layouts, row, "loads") + atomics, writes: num(layouts, row, "stores") + atomics });
  }
  return [...members.values()];
}

/** "thread 1001 reads and writes, thread 1002 reads". */
function usesWords(member: Member): string {
  if (member.uses.length === 0) return "not accessed";
  const doing = { reads: "reads", writes: "writes", both: "reads and writes" } as const;
  return member.uses.slice(0, 4).map((use) => `thread ${use.thread} ${doing[kindOf(use.reads, use.writes)]}`).join(", ") +
    (member.uses.length > 4 ? ` and ${member.uses.length - 4} more` : "");
}

function memberSpan(member: Member, offset: number): Span {
  const words = `${member.name}${member.type === "" ? "" : ` (${member.type})`}: ${bytesWords(offset, member.size)}: ${usesWords(member)}`;
  return { offset, size: member.size, words, label: member.name, kind: member.uses.length === 0 ? "unused" : "used" };
}

/** The members that are on a line; none where the layout is of many objects. */
function membersRow(layouts: Table, lines: Table, line: number, bytes: number): ByteRow[] {
  const row = rowsOf(lines).find((r) => lines.get(r, "line") === line);
  if (row === undefined) return [];
  const address = BigInt(lines.words(row, "address"));
  const own = rowsOf(layouts).filter((r) => layouts.get(r, "line") === line && layouts.get(r, "field_line") !== null);
  const spans = membersOf(layouts, own).map((member) => memberSpan(member,
    Number(BigInt(layouts.words(member.row, "field_line")) + BigInt(num(layouts, member.row, "line_offset")) - address)))
    .filter((span) => span.offset < bytes && span.offset + span.size > 0);
  return spans.length === 0 ? [] : [{ words: `members of ${layouts.words(own[0]!, "object")}`, spans }];
}

function drawLine(tables: readonly Table[], line: number): HTMLElement | null {
  const [lines, accesses, layouts] = ["lines", "accesses", "layouts"].map((name) => find(tables, name));
  const bytes = lineBytes(tables);
  if (lines === undefined || accesses === undefined || layouts === undefined || bytes === 0) return null;
  const rows = accessRows(accesses, line);
  const row = rowsOf(lines).find((r) => lines.get(r, "line") === line);
  if (row === undefined || rows.length === 0) return null;
  return h("figure", { class: "bytes-figure" }, h("figcaption", {}, `line ${lines.words(row, "address")} now: R reads, W writes, RW both`),
    drawBytes(bytes, [...membersRow(layouts, lines, line, bytes), ...rows.slice(0, MOST_DRAWN)], `line ${lines.words(row, "address")}`),
    rows.length > MOST_DRAWN ? h("p", { class: "note" }, `${rows.length - MOST_DRAWN} more accesses`) : null);
}

/** Members at their new places: by line of the struct. */
function fixedLines(layouts: Table, line: number, bytes: number): { size: number; lines: ByteRow[][] } | null {
  const own = rowsOf(layouts).filter((row) => layouts.get(row, "line") === line && layouts.get(row, "new_offset") !== null);
  if (own.length === 0) return null;
  const size = num(layouts, own[0]!, "new_size");
  const members = membersOf(layouts, own);
  const at = (m: Member): number => num(layouts, m.row, "new_offset");
  const lines = Array.from({ length: Math.min(MOST_LINES, Math.ceil(size / bytes)) }, (_, i) => {
    const here = members.filter((m) => at(m) < (i + 1) * bytes && at(m) + m.size > i * bytes);
    const used = here.filter((m) => m.uses.length > 0);
    const words = used.length === 0 ? "not accessed" : used.slice(0, 6).map((m) => `${m.name}: ${usesWords(m)}`).join("; ");
    return [{ words: `line ${i}: ${words}`, spans: here.map((m) => memberSpan(m, at(m) - i * bytes)) }];
  });
  return { size, lines };
}

function drawFix(tables: readonly Table[], line: number): HTMLElement | null {
  const layouts = find(tables, "layouts");
  const bytes = lineBytes(tables);
  if (layouts === undefined || bytes === 0) return null;
  const fixed = fixedLines(layouts, line, bytes);
  if (fixed === null) return null;
  return h("figure", { class: "bytes-figure" },
    h("figcaption", {}, `with the fix: ${fixed.size} bytes, ${plural(Math.ceil(fixed.size / bytes), "line")}`),
    ...fixed.lines.map((rows, i) => drawBytes(bytes, rows, `line ${i} with the fix`)),
    fixed.lines.length * bytes < fixed.size ? h("p", { class: "note" }, `${Math.ceil(fixed.size / bytes) - fixed.lines.length} more lines`) : null);
}

/** The same for those who read text: each member with its offset now and with the fix. */
function layoutText(tables: readonly Table[], line: number): string {
  const layouts = find(tables, "layouts");
  if (layouts === undefined) return "";
  const own = rowsOf(layouts).filter((row) => layouts.get(row, "line") === line);
  const fixed = own.find((row) => layouts.get(row, "new_offset") !== null);
  return membersOf(layouts, own).map((m) => {
    const moved = layouts.get(m.row, "new_offset");
    return `   ${layouts.words(m.row, "offset").padStart(6)}  ${String(m.size).padStart(4)}  ${[m.type, m.name].filter((s) => s !== "").join(" ")}: ` +
      `${usesWords(m)}${moved === null ? "" : `; with the fix at ${moved}`}\n`;
  }).join("") + (fixed === undefined ? "" : `   with the fix: ${num(layouts, fixed, "new_size")} bytes\n`);
}

function termsOf(findings: Table, row: number): [string, string[]][] {
  return TERMS.map(([name, title]): [string, string[]] =>
    [title, [name, `${name}_2`, `${name}_3`].map((c) => findings.words(row, c)).filter((s) => s !== "")])
    .filter(([, words]) => words.length > 0);
}

function card(tables: readonly Table[], findings: Table, row: number): HTMLElement {
  const title = `line-${row + 1}`;
  const line = num(findings, row, "line");
  return h("article", { class: "card wide", "aria-labelledby": title, "data-finding": row + 1 },
    h("h2", { id: title }, `${row + 1}. ${findings.words(row, "claim")}`),
    h("p", { class: "cost" }, findings.words(row, "size")),
    costBar(findings, row),
    drawLine(tables, line),
    drawFix(tables, line),
    h("dl", { class: "terms" }, ...termsOf(findings, row).flatMap(([name, words]) =>
      [h("dt", {}, name), ...words.map((line) => h("dd", {}, ...withCode(line)))])));
}

function cardText(tables: readonly Table[], findings: Table, row: number): string {
  return `\n${row + 1}. ${findings.words(row, "claim")}  ${findings.words(row, "size")}\n` +
    layoutText(tables, num(findings, row, "line")) +
    termsOf(findings, row).map(([name, words]) => words.map((line) => `   ${name}: ${line}\n`).join("")).join("");
}

function addFindings(root: HTMLElement, tables: readonly Table[], view: View): void {
  const findings = find(tables, "findings");
  const answer = find(tables, "answer");
  if (answer !== undefined) addTable(root, answer, view);
  if (findings !== undefined && findings.rows > 0) {
    const rows = rowsOf(findings);
    root.append(h("div", { class: "wide-cards" }, ...rows.map((row) => card(tables, findings, row))));
    view.texts.push(() => rows.map((row) => cardText(tables, findings, row)).join(""));
  }
  if (findings !== undefined && findings.rows > 0) {
    root.append(...findings.raw.notes.map(noteOf));
    view.texts.push(() => findings.raw.notes.map((note) => note + "\n").join(""));
  }
  for (const table of tables.filter((t) => t.name === "pairs" || (t.raw.style === "facts" && t.raw.readers !== "programs")))
    addTable(root, table, view);
}

/** All lines with their accesses; one of them drawn. */
function addLines(root: HTMLElement, tables: readonly Table[], view: View): void {
  const lines = find(tables, "lines");
  if (lines === undefined || lines.rows === 0) return;
  const place = h("div");
  const choice = h("select", { id: "line" }, ...rowsOf(lines).map((row) => h("option", { value: lines.words(row, "line") },
    ["line", "address", "verdict", "object"].map((c) => lines.words(row, c)).filter((s) => s !== "").join("  "))));
  const asked = view.route.state.get("line");
  const draw = (): void => {
    const drawn = drawLine(tables, Number(choice.value));
    place.replaceChildren(...(drawn === null ? [] : [drawn]));
  };

  if (asked !== null && [...choice.options].some((o) => o.value === asked)) choice.value = asked;
  choice.addEventListener("change", () => {
    draw();
    view.keep(new URLSearchParams({ line: choice.value }));
  });
  draw();
  root.append(h("div", { class: "tools" }, h("label", { for: "line" }, "line"), choice), place);
  for (const name of ["lines", "accesses"]) {
    const table = find(tables, name);
    if (table !== undefined) addTable(root, table, view);
  }
}

export const sharing: Page = {
  id: "sharing",
  title: "Sharing",
  has: (data) => data.has("sharing"),
  async render(root, view) {
    const tables = await view.data.load(view.data.find("sharing"));
    const part = PARTS.find((p) => p.id === view.route.about) ?? PARTS[0];
    root.append(h("nav", { class: "tabs", "aria-label": "About" }, ...PARTS.map((p) =>
      h("a", { href: addressOf("sharing", p.id), "aria-current": p === part ? "true" : undefined }, p.title))));
    if (part.id === "") addFindings(root, tables, view);
    else if (part.id === "lines") addLines(root, tables, view);
    else for (const name of ["trace", "shared"]) {
      const table = find(tables, name);
      if (table !== undefined) addTable(root, table, view);
    }
  },
};
