// Verdicts: a sign, a word and a colour, so that none of them has to carry the meaning alone.
import { el, svg } from "./dom";
import type { Verdict } from "./report";

export const kVerdicts: Verdict[] = ["holds", "fails", "undecided", "no data"];

const kSigns: Record<Verdict, string> = {
  holds: "M3.2,8.4L6.6,11.8L12.8,4.4",
  fails: "M4,4L12,12M12,4L4,12",
  undecided: "M5.4,5.9C5.4,2.6 10.8,2.7 10.8,5.9C10.8,8 8.1,8 8.1,10.1M8.1,12.6V12.8",
  "no data": "M4,8H12",
};

// "no data" as a class name.
export function verdictClass(verdict: Verdict): string {
  return `verdict-${verdict.replace(" ", "-")}`;
}

export function verdictSign(verdict: Verdict): SVGElement {
  return svg(
    "svg",
    { class: `sign ${verdictClass(verdict)}`, width: 16, height: 16, viewBox: "0 0 16 16", "aria-hidden": "true" },
    svg("path", {
      d: kSigns[verdict] ?? kSigns["no data"],
      fill: "none",
      stroke: "currentColor",
      "stroke-width": 2.2,
      "stroke-linecap": "round",
      "stroke-linejoin": "round",
    }),
  );
}

export function verdictBadge(verdict: Verdict): HTMLElement {
  return el("span", { class: `badge ${verdictClass(verdict)}` }, verdictSign(verdict), el("span", {}, verdict));
}
