// SPDX-License-Identifier: Apache-2.0
// Where the time goes or what waits, by function, line, module or thread: what `cyclops hot` says.
import type { Table } from "../data.js";
import { h } from "../dom.js";
import { addGrid, addressOf, type Page, type View } from "../page.js";
import { COMPARE, compareAddress, renderCompare } from "./compare.js";

/** Tables of the report that are about code, too. */
const OF_REPORT = ["elapsed", "user_code"];

/** Columns that name a function: that of the screens has "inlined into" behind it. */
export const FUNCTION_COLUMNS = ["function", "code"];

/** The block of data of the function that a row is about; -1: this file has none. */
export function functionBlock(view: View, table: Table, row: number): number {
  return ["function", "inlined"].map((column) => view.data.find("function", `${table.words(row, column)}@${table.words(row, "module")}`))
    .find((block) => block >= 0) ?? -1;
}

/** The page of that function, or null. */
export function functionAddress(view: View, table: Table, row: number): string | null {
  const block = functionBlock(view, table, row);
  return block < 0 ? null : addressOf("function", view.data.about.blocks[block]!.label);
}

function choice(tables: readonly Table[], chosen: Table | undefined, view: View): HTMLElement {
  const link = (address: string, title: string, isChosen: boolean): HTMLElement =>
    h("a", { href: address, "aria-current": isChosen ? "true" : undefined }, title);
  return h("nav", { class: "tabs", "aria-label": "By" },
    ...tables.map((table) => link(addressOf("functions", table === tables[0] ? "" : table.name), table.title, table === chosen)),
    view.data.has("timeline") ? link(compareAddress(), "Compare", chosen === undefined) : null);
}

async function tablesOf(view: View): Promise<Table[]> {
  const ours = view.data.has("functions") ? await view.data.load(view.data.find("functions")) : [];
  const report = view.data.has("answer") ? await view.data.load(view.data.find("answer")) : [];
  return [...ours, ...report.filter((t) => OF_REPORT.includes(t.name) && t.rows > 0)];
}

export const functions: Page = {
  id: "functions",
  title: "Functions",
  has: (data) => data.has("functions") || data.has("timeline"),
  async render(root, view) {
    const tables = await tablesOf(view);
    const isCompared = view.data.has("timeline") && (view.route.about === COMPARE || tables.length === 0);
    const table = isCompared ? undefined : tables.find((t) => t.name === view.route.about) ?? tables[0]!;
    root.append(choice(tables, table, view));
    if (table === undefined) await renderCompare(root, view);
    else
      addGrid(root, table, view, {
        state: view.route.state, onState: view.keep,
        linkColumns: FUNCTION_COLUMNS, link: (row) => functionAddress(view, table, row),
      });
  },
};
