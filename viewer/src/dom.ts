// SPDX-License-Identifier: Apache-2.0
// Elements. Text gets into the page by text nodes and attributes only: nothing is parsed as markup.

export type Child = Node | string | null | undefined;
export type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

function set(element: Element, attributes: Attributes): void {
  for (const [name, value] of Object.entries(attributes))
    if (value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : String(value));
}

export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K, attributes: Attributes = {}, ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  set(element, attributes);
  element.append(...children.filter((c): c is Node | string => c !== null && c !== undefined));
  return element;
}

export function svg(tag: string, attributes: Attributes = {}, ...children: Child[]): SVGElement {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  set(element, attributes);
  element.append(...children.filter((c): c is Node | string => c !== null && c !== undefined));
  return element;
}

export function button(label: string, onClick: () => void, attributes: Attributes = {}): HTMLButtonElement {
  const element = h("button", { type: "button", ...attributes }, label);
  element.addEventListener("click", onClick);
  return element;
}

/** Says something to those who listen to the page, and shows it for a moment. */
export function announce(words: string): void {
  const status = document.getElementById("status");
  if (status !== null) status.textContent = words;
}

/** Puts text on the clipboard; where the browser refuses, shows it selected. */
export async function copy(text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    announce(`${what} copied`);
  } catch {
    const area = h("textarea", { readonly: true, rows: 20, "aria-label": what });
    const dialog = h("dialog", { "aria-label": what }, area, button("Close", () => dialog.remove()));
    area.value = text;
    document.body.append(dialog);
    dialog.showModal();
    area.select();
  }
}
