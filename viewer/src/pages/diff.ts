// SPDX-License-Identifier: Apache-2.0
// What changed between two runs: what `cyclops diff` says.
import { addTable, type Page } from "../page.js";

export const diff: Page = {
  id: "diff",
  title: "Difference",
  has: (data) => data.has("diff"),
  async render(root, view) {
    for (const table of await view.data.load(view.data.find("diff")))
      if (table.raw.readers !== "programs") addTable(root, table, view);
  },
};
