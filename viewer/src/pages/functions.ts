// SPDX-License-Identifier: Apache-2.0
// Where the time goes or what waits, by function, line, module or thread: what `cyclops hot` says.
import type { Table } from "../data.js";
import { h } from "../dom.js";
import { addGrid, addressOf, type Page, type View } from "../page.js";

/** Tables of the report that are about code, too. */
const OF_REPORT = ["elapsed", "user_code"];

/** Columns that name a function: that of the screens has "inlined into" behind it. */
export const FUNCTION_COLUMNS = ["function", "code"];

/** The page of the function that a row is about; null: this file has none. */
export function functionAddress(view: View, table: Table, row: number): string | null {
  for (const column of ["function", "inlined"]) {
    const label = `${table.words(row, column)}@${table.words(row, "module")}`;
    if (view.data.find("function", label) >= 0) return addressOf("function", label);
  }
  return null;
}

function choice(tables: readonly Table[], chosen: Table): HTMLElement {
  return h("nav", { class: "tabs", "aria-label": "By" }, ...tables.map((table) =>
    h("a", {
      href: addressOf("functions", table === tables[0] ? "" : table.name),
      "aria-current": table === chosen ? "true" : undefined,
    }, table.title)));
}

async function tablesOf(view: View): Promise<Table[]> {
  const ours = await view.data.load(view.data.find("functions"));
  const report = view.data.has("answer") ? await view.data.load(view.data.find("answer")) : [];
  return [...ours, ...report.filter((t) => OF_REPORT.includes(t.name) && t.rows > 0)];
}

export const functions: Page = {
  id: "functions",
  title: "Functions",
  has: (data) => data.has("functions"),
  async render(root, view) {
    const tables = await tablesOf(view);
    const table = tables.find((t) => t.name === view.route.about) ?? tables[0]!;
    root.append(choice(tables, table));
    addGrid(root, table, view, {
      state: view.route.state, onState: view.keep,
      linkColumns: FUNCTION_COLUMNS, link: (row) => functionAddress(view, table, row),
    });
  },
};
