// SPDX-License-Identifier: Apache-2.0
// Can the capture be trusted: what `cyclops quality` says.
import { addTable, type Page } from "../page.js";

export const quality: Page = {
  id: "quality",
  title: "Quality",
  has: (data) => data.has("quality"),
  async render(root, view) {
    for (const table of await view.data.load(view.data.find("quality")))
      addTable(root, table, view, { wraps: table.name === "quality" });
  },
};
