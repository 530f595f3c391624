// SPDX-License-Identifier: Apache-2.0
// How far values can be trusted: the signs of the text screens (src/table/shown.c).
import type { Table } from "./data.js";

interface Sign {
  readonly before: string;
  readonly behind: string;
  readonly meaning: string;
}

const EXACT: Sign = { before: "", behind: "", meaning: "" };

const SIGNS: Readonly<Record<string, Sign>> = {
  exact: EXACT,
  scaled: { before: "", behind: "~", meaning: "~ scaled up from a part" },
  sparse: { before: "", behind: "?", meaning: "? too few samples" },
  saturated: { before: "≥ ", behind: "", meaning: "≥ saturated: at least this" },
  noise: { before: "", behind: "=", meaning: "= not significant" },
  "at-most": { before: "≤ ", behind: "", meaning: "≤ others saturated: at most this" },
  uncertain: { before: "≈ ", behind: "", meaning: "≈ saturated: more or less" },
  "at-least": { before: "≥ ", behind: "", meaning: "≥ at least this many: not all are sampled" },
  biased: { before: "", behind: "*", meaning: "* biased: the samples prefer some of the code" },
  incomplete: { before: "≥ ", behind: "", meaning: "≥ a part was not collected: at least this" },
  implausible: { before: "", behind: "!", meaning: "! impossible: counts contradict each other" },
};

export function sign(mark: string): Sign {
  return SIGNS[mark] ?? EXACT;
}

/** What a mark means in a table. */
export function meaningOf(table: Table, mark: string): string {
  return table.raw.meanings?.[mark] ?? sign(mark).meaning;
}

/** What the marks mean in a table, each once, in the order above. */
export function legend(table: Table, marks: ReadonlySet<string>): string[] {
  return Object.keys(SIGNS).filter((mark) => marks.has(mark) && mark !== "exact").map((mark) => meaningOf(table, mark));
}
