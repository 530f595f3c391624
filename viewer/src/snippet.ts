// SPDX-License-Identifier: Apache-2.0
// The source lines that a finding is about, with what each took of its function.
import { percent, readCode } from "./code.js";
import type { Table } from "./data.js";
import { h } from "./dom.js";
import type { View } from "./page.js";
import { functionAddress, functionBlock } from "./pages/functions.js";

/** Lines above and below. */
const AROUND = 3;

const isOf = (path: string, file: string): boolean => path === file || path.endsWith(`/${file}`);

/** Null: the file has no page of the function, or its source is not there. */
export async function snippetOf(view: View, findings: Table, row: number): Promise<HTMLElement | null> {
  const block = functionBlock(view, findings, row);
  const line = Number(findings.get(row, "line") ?? 0);
  const file = findings.words(row, "file");
  if (block < 0 || line === 0) return null;
  const tables = await view.data.load(block);
  const code = readCode(tables);
  const source = tables.find((t) => t.name === "source");
  if (code === null || source === undefined) return null;
  const lines = Array.from({ length: source.rows }, (_, i) => i)
    .filter((i) => isOf(source.words(i, "file"), file) && Math.abs(Number(source.get(i, "line")) - line) <= AROUND);
  if (!lines.some((i) => source.get(i, "line") === line)) return null;
  const texts = lines.map((i) => source.words(i, "text"));
  const indent = texts.filter((text) => text !== "").reduce((least, text) => Math.min(least, text.search(/\S|$/)), Infinity);
  const name = `${findings.words(row, "function")}, ${file}`;
  return h("figure", { class: "snippet" },
    h("figcaption", {}, h("a", { href: functionAddress(view, findings, row) ?? "" }, name), ` (bars: parts of the function's ${code.what})`),
    h("div", { class: "source", tabindex: 0, role: "region", "aria-label": `Source of finding ${row + 1}` },
      h("table", { class: "code", "aria-label": name }, h("tbody", {}, ...lines.map((i, k) => {
        const key = `${source.words(i, "file")}:${source.words(i, "line")}`;
        const weight = (code.byLine.get(key) ?? []).reduce((sum, at) => sum + code.weights[at]!, 0);
        const heat = h("td", { class: "number bar" }, weight === 0 ? "" : percent(weight));
        heat.style.setProperty("--part", `${100 * Math.min(1, weight)}%`);
        return h("tr", { class: source.get(i, "line") === line ? "marked" : undefined },
          h("td", { class: "number" }, source.words(i, "line")), heat, h("td", { class: "text" }, texts[k]!.slice(indent)));
      })))));
}
