// SPDX-License-Identifier: Apache-2.0
// What many captures say: the answer of a question of `cyclops fleet`.
import { addTable, type Page } from "../page.js";

export const fleet: Page = {
  id: "fleet",
  title: "Fleet",
  has: (data) => data.has("fleet"),
  async render(root, view) {
    for (const table of await view.data.load(view.data.find("fleet"))) addTable(root, table, view);
  },
};
