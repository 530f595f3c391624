// SPDX-License-Identifier: Apache-2.0
// The frame of all pages: head, menu, keys, and the page that the address names.
import { Data } from "./data.js";
import { announce, button, copy, h } from "./dom.js";
import { addressOf, parseAddress, type Page, type View } from "./page.js";
import { pages } from "./pages.js";

const THEMES = ["auto", "light", "dark"] as const;

function chooseTheme(theme: string): void {
  if (theme === "auto") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = theme;
  try {
    localStorage.setItem("cyclops-theme", theme);
  } catch {
    // files may have no storage: the choice is for this view then
  }
}

function rememberedTheme(): string {
  try {
    return localStorage.getItem("cyclops-theme") ?? "auto";
  } catch {
    return "auto";
  }
}

function themeChoice(): HTMLElement {
  const select = h("select", { "aria-label": "Colours" }, ...THEMES.map((t) => h("option", { value: t }, `colours: ${t}`)));
  select.value = rememberedTheme();
  chooseTheme(select.value);
  select.addEventListener("change", () => chooseTheme(select.value));
  return select;
}

class Viewer {
  private readonly main = h("main", { id: "main", tabindex: -1 });
  private readonly menu = h("nav", { class: "menu", "aria-label": "Pages" });
  private readonly there: readonly Page[];
  private view: View | null = null;

  constructor(private readonly data: Data) {
    this.there = pages.filter((page) => page.has(data));
    document.title = `cyclops ${data.about.command} ${data.about.subject}`;
    document.body.append(
      h("a", { class: "skip", href: "#main" }, "Skip to the page"),
      h("header", {}, h("div", { class: "brand" }, h("strong", {}, `cyclops ${data.about.command}`), " ",
        h("span", { class: "subject" }, data.about.subject)),
      h("div", { class: "actions" }, button("Copy page as text", () => this.copyText()), themeChoice())),
      this.menu,
      ...(data.about.modelled ? [h("section", { class: "modelled", "aria-label": "Modelled" },
        "modelled: these numbers are simulated, not measured")] : []),
      this.main,
      h("footer", {}, `cyclops ${data.about.version} · keys: 1 … ${this.inMenu().length} pages, / filter, c copy as text`),
      h("div", { id: "status", role: "status", class: "status" }));
    document.querySelector(".skip")?.addEventListener("click", (event) => {
      event.preventDefault();
      this.main.focus();
    });
    window.addEventListener("hashchange", () => void this.show());
    document.addEventListener("keydown", (event) => this.key(event));
    window.addEventListener("beforeprint", () => this.view?.grids.forEach((grid) => grid.drawAll()));
    window.addEventListener("afterprint", () => this.view?.grids.forEach((grid) => grid.drawAgain()));
  }

  private inMenu(): readonly Page[] {
    return this.there.filter((page) => page.isHidden !== true);
  }

  private text(): string {
    const modelled = this.data.about.modelled ? "modelled: these numbers are simulated, not measured\n" : "";
    return modelled + (this.view?.texts.map((part) => part()).join("") ?? "");
  }

  private copyText(): void {
    void copy(this.text(), "Page as text");
  }

  private key(event: KeyboardEvent): void {
    const typing = event.target instanceof HTMLInputElement || event.target instanceof HTMLTextAreaElement ||
      event.target instanceof HTMLSelectElement;
    if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
    const page = this.inMenu()[Number(event.key) - 1];
    if (page !== undefined) location.hash = addressOf(page.id);
    else if (event.key === "c") this.copyText();
    else if (event.key === "/") {
      event.preventDefault();
      document.querySelector<HTMLInputElement>(".filter")?.focus();
    }
  }

  private drawMenu(chosen: Page): void {
    this.menu.replaceChildren(...this.inMenu().map((page) =>
      h("a", { href: addressOf(page.id), "aria-current": page === chosen ? "page" : undefined }, page.title)));
  }

  /** Draws the page that the address names. body[data-ready] says when it is there. */
  async show(): Promise<void> {
    const address = location.hash;
    const route = parseAddress(address);
    const page = this.there.find((p) => p.id === route.page) ?? this.there[0];
    if (page === undefined) return;
    const view: View = {
      data: this.data, route, texts: [], grids: [], shown: [],
      keep: (state) => history.replaceState(null, "", addressOf(route.page || page.id, route.about, state)),
    };

    delete document.body.dataset["ready"];
    this.view = view;
    this.drawMenu(page);
    const root = h("div", { class: `page page-${page.id}` }, h("h1", {}, page.title));
    await page.render(root, view);
    if (location.hash !== address) return;
    this.main.replaceChildren(root);
    view.grids.forEach((grid) => grid.drawAgain());
    view.shown.forEach((then) => then());
    announce("");
    document.body.dataset["ready"] = address === "" ? "#" : address;
  }
}

void Data.open().then((data) => new Viewer(data).show());
