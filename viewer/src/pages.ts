// SPDX-License-Identifier: Apache-2.0
// All pages, in the order of the menu. A page is a file in pages/ and a line here.
import type { Page } from "./page.js";
import { answer } from "./pages/answer.js";
import { cycles } from "./pages/cycles.js";
import { diff } from "./pages/diff.js";
import { flame } from "./pages/flame.js";
import { fleet } from "./pages/fleet.js";
import { functionPage } from "./pages/function.js";
import { functions } from "./pages/functions.js";
import { memory } from "./pages/memory.js";
import { quality } from "./pages/quality.js";
import { sharing } from "./pages/sharing.js";
import { timeline } from "./pages/timeline.js";

export const pages: readonly Page[] = [
  answer,
  diff,
  fleet,
  functions,
  functionPage,
  timeline,
  flame,
  cycles,
  memory,
  sharing,
  quality,
];
