// How accuracy is spread over the combinations of each part: bars for five percent each.
import { percentAxis } from "./bar_axis";
import { makeWalkable } from "./cell_walk";
import type { Cells } from "./cell_walk";
import { el } from "./dom";
import { count, measured, plural } from "./format";
import { kParts } from "./image_details";
import type { Combination } from "./report";
import { isNumber } from "./report";
import { fact } from "./tooltip";

const kFrom = 50; // percent; the first bar takes what is lower
const kStep = 5;
const kHeight = 40; // pixels
const kBars = (100 - kFrom) / kStep;

function barOf(accuracy: number): number {
  return Math.min(Math.max(Math.floor((accuracy - kFrom) / kStep), 0), kBars - 1);
}

function bounds(bar: number): string {
  const low = kFrom + bar * kStep;
  return bar === 0
    ? `less than ${low + kStep} %`
    : bar === kBars - 1
      ? `${low} % and more`
      : `${low} to ${low + kStep} %`;
}

export function combinationBars(combinations: Combination[]): HTMLElement {
  const cells: Cells = new Map();
  const rows = kParts.flatMap(({ part, name }) => {
    const values = combinations
      .filter((one) => one.part === part)
      .map((one) => one.accuracy)
      .filter(isNumber);
    if (!values.length) {
      return [];
    }
    const counts = Array.from({ length: kBars }, (_, bar) => values.filter((value) => barOf(value) === bar).length);
    return [
      el(
        "tr",
        {},
        el("th", { scope: "row" }, name),
        counts.map((number, bar) => {
          const share = number / values.length;
          const cell = el(
            "td",
            { "aria-label": `${name}, ${bounds(bar)}: ${count(number)}` },
            el("span", {
              class: number ? "share-bar" : "share-bar share-none",
              style: `height:${(kHeight * share).toFixed(1)}px`,
            }),
          );
          cells.set(cell, () => [
            el("div", { class: "point-place" }, `${name}, ${bounds(bar)}`),
            fact("combinations", `${count(number)} of ${count(values.length)}`),
            fact("share", measured(100 * share, "%", 1)),
          ]);
          return cell;
        }),
      ),
    ];
  });
  const table = el(
    "table",
    {
      class: "combination-bars",
      "aria-label": `Accuracies of ${plural(combinations.length, "combination")}, by part. Arrow keys go from bar to bar.`,
    },
    el("caption", {}, "share of the combinations, by accuracy"),
    el("tbody", {}, rows),
    percentAxis(kBars, [kFrom, (kFrom + 100) / 2, 100]),
  );
  makeWalkable(table, cells);
  return table;
}
