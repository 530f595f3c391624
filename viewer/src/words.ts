// SPDX-License-Identifier: Apache-2.0
// Sentences and commands: no line ends inside of a figure, an option, or a word of a command.
import { h } from "./dom.js";

/** A share with its bound and its error; an option. */
const UNBROKEN = /((?:[≥≤≈] )?\d[\d.]* %(?: ± \d[\d.]*)?|(?<![^ ])--[\w-]*)/;

/** A command that ends a sentence or a note. */
const AT_END = /^(.*: )((?:cyclops|perf stat) .*?)(\.?)$/s;

/** Blanks between words of a command, not those in quotes. */
const BETWEEN_WORDS = /( +)(?=(?:[^']*'[^']*')*[^']*$)/;

/** Prose. */
export const unbroken = (words: string): (Node | string)[] =>
  words.split(UNBROKEN).map((piece, i) => (i % 2 === 1 ? h("span", { class: "figure" }, piece) : piece));

/** A command: a line ends between its words only, unless one is longer than a line. */
export function codeOf(command: string): HTMLElement {
  return h("code", {}, ...command.split(BETWEEN_WORDS).map((piece, i) => (i % 2 === 1 ? piece : h("span", { class: "word" }, piece))));
}

/** What stands in `quotes` is code, and a command at the end. */
export function withCode(words: string): (Node | string)[] {
  const [, before, command, behind] = words.includes("`") ? [] : AT_END.exec(words) ?? [];
  if (command !== undefined) return [...unbroken(before!), codeOf(command), behind!];
  return words.split("`").flatMap((part, i, all): (Node | string)[] => (i % 2 === 1 && i < all.length - 1 ? [codeOf(part)] : unbroken(part)));
}

/** A note below a table or a drawing. */
export function noteOf(words: string): HTMLElement {
  return h("p", { class: "note" }, ...withCode(words));
}
