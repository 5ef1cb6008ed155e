// The section in which single networks are shown, whatever they are.
import { el } from "./dom";

export function networksSection(lede: string, id = "networks", title = "Networks"): HTMLElement {
  return el(
    "section",
    { id, class: "section", "aria-labelledby": `${id}-title` },
    el("h2", { id: `${id}-title` }, title),
    el("p", { class: "section-lede" }, lede),
  );
}
