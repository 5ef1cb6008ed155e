// Elements without HTML strings: what comes from a study only ever becomes text or an attribute.

export type Child = Node | string | number | null | undefined | false | Child[];
type Handler = (event: Event) => void;
type Attributes = Record<string, string | number | boolean | null | undefined | Handler>;

const kSvg = "http://www.w3.org/2000/svg";

function fill(element: Element, attributes: Attributes, children: Child[]): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") {
      element.addEventListener(name, value);
    } else if (value === true) {
      element.setAttribute(name, "");
    } else if (value !== false && value !== null && value !== undefined) {
      element.setAttribute(name, String(value));
    }
  }
  append(element, children);
}

function append(element: Element, children: Child[]): void {
  for (const child of children) {
    if (Array.isArray(child)) {
      append(element, child);
    } else if (child !== null && child !== undefined && child !== false) {
      element.append(typeof child === "number" ? String(child) : child);
    }
  }
}

// A function as an attribute's value listens for the event of that name.
export function el<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  fill(element, attributes, children);
  return element;
}

export function svg<Tag extends keyof SVGElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: Child[]
): SVGElementTagNameMap[Tag] {
  const element = document.createElementNS(kSvg, tag);
  fill(element, attributes, children);
  return element;
}

export function saveAs(name: string, type: string, text: string): void {
  const address = URL.createObjectURL(new Blob([text], { type }));
  const link = el("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

const kLongestRow = 52; // letters

// A row of buttons of which one is down; a menu where the names are too long for a row.
export function choice<Option extends string>(
  label: string,
  options: { value: Option; label: string; title?: string }[],
  chosen: Option,
  choose: (option: Option) => void,
): HTMLElement {
  if (options.reduce((length, option) => length + option.label.length, 0) > kLongestRow) {
    const menu = el(
      "select",
      { "aria-label": label, change: () => choose(menu.value as Option) },
      options.map((option) => el("option", { value: option.value, selected: option.value === chosen }, option.label)),
    );
    return menu;
  }
  const buttons = options.map((option) =>
    el(
      "button",
      {
        type: "button",
        "aria-pressed": String(option.value === chosen),
        "data-value": option.value,
        title: option.title,
        click: () => {
          for (const button of buttons) {
            button.setAttribute("aria-pressed", String(button.dataset.value === option.value));
          }
          choose(option.value);
        },
      },
      option.label,
    ),
  );
  return el("div", { class: "choice", role: "group", "aria-label": label }, buttons);
}

export function clear(element: Element, ...children: Child[]): void {
  element.replaceChildren();
  append(element, children);
}
