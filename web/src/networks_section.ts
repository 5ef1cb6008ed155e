// The section in which single networks are shown, whatever they are.
import { el } from "./dom";

export function networksSection(lede: string): HTMLElement {
  return el(
    "section",
    { id: "networks", class: "section", "aria-labelledby": "networks-title" },
    el("h2", { id: "networks-title" }, "Networks"),
    el("p", { class: "section-lede" }, lede),
  );
}
