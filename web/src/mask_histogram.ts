// How decided masks are: how many logits have which chance to keep their weights.
import { percentAxis } from "./bar_axis";
import { makeWalkable } from "./cell_walk";
import type { Cells } from "./cell_walk";
import { el } from "./dom";
import { count, measured } from "./format";
import type { ShownMasked } from "./mask_details";
import { fact } from "./tooltip";

const kHeight = 34; // pixels. Roots, since most logits are decided and the others are what one looks for.

export function chanceHistograms(network: ShownMasked): HTMLElement | null {
  const cells: Cells = new Map();
  const rows = network.masks.flatMap((mask) => {
    const { histogram } = mask;
    const all = histogram?.reduce((sum, one) => sum + one, 0) ?? 0;
    if (!histogram || !all) {
      return [];
    }
    const most = Math.max(...histogram);
    const bounds = (bin: number): string =>
      `${Math.round((100 * bin) / histogram.length)} to ${Math.round((100 * (bin + 1)) / histogram.length)} %`;
    return [
      el(
        "tr",
        {},
        el("th", { scope: "row" }, mask.name, el("span", {}, `${measured(mask.ambiguous, "%", 0)} undecided`)),
        histogram.map((number, bin) => {
          const cell = el(
            "td",
            { "aria-label": `${mask.name}, chance to keep ${bounds(bin)}: ${count(number)}` },
            el("span", {
              class: number ? "share-bar" : "share-bar share-none",
              style: `height:${(kHeight * Math.sqrt(number / most)).toFixed(1)}px`,
            }),
          );
          cells.set(cell, () => [
            el("div", { class: "point-place" }, `mask ${mask.name}, ${bounds(bin)}`),
            fact("logits", `${count(number)} of ${count(all)}`),
            fact("share", measured((100 * number) / all, "%", 1)),
          ]);
          return cell;
        }),
      ),
    ];
  });
  if (!rows.length) {
    return null;
  }
  const bins = network.masks.find((mask) => mask.histogram)?.histogram?.length ?? 1;
  const table = el(
    "table",
    {
      class: "combination-bars chance-bars",
      "aria-label": "Logits by their chance to keep. Arrow keys go from bar to bar.",
    },
    el("caption", {}, "logits, by their chance to keep a weight (heights are roots)"),
    el("tbody", {}, rows),
    percentAxis(bins, [0, 50, 100]),
  );
  makeWalkable(table, cells);
  return table;
}
