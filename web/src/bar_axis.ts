// The axis below rows of bars, the foot of their table: percentages at its ends and between.
import { el } from "./dom";

export function percentAxis(bars: number, percentages: number[]): HTMLElement {
  return el(
    "tfoot",
    { "aria-hidden": "true" },
    el(
      "tr",
      {},
      el("td"),
      el(
        "td",
        { colspan: bars },
        el(
          "span",
          { class: "bar-axis" },
          percentages.map((value) => el("span", {}, `${value} %`)),
        ),
      ),
    ),
  );
}
