// What a network does under its masks, as heat maps: how often each target is right, and which operation's result is
// given where one is asked for.
import { makeWalkable } from "./cell_walk";
import type { Cells } from "./cell_walk";
import { el } from "./dom";
import type { Child } from "./dom";
import { measured } from "./format";
import type { ShownMasked } from "./mask_details";
import { inBothLooks, rampColour } from "./palette";
import { isNumber } from "./report";
import { filledInBothThemes } from "./swatch";
import { fact } from "./tooltip";

const kMostColumns = 8; // whose cells have room for a number

function percentCell(
  value: number | null,
  isWritten: boolean,
  where: string,
  facts: () => Child[],
  cells: Cells,
): HTMLElement {
  const style = isNumber(value) ? filledInBothThemes(inBothLooks((theme) => rampColour(theme, value / 100))) : "";
  const cell = el(
    "td",
    { class: isNumber(value) ? "filled" : "empty", style, "aria-label": `${where}: ${measured(value, "%", 1)}` },
    isWritten ? (isNumber(value) ? Math.round(value) : "–") : "",
  );
  cells.set(cell, () => [
    el("div", { class: "point-place" }, where),
    fact("share", measured(value, "%", 1)),
    ...facts(),
  ]);
  return cell;
}

function heatMap(
  label: string,
  corner: string,
  columns: string[],
  rows: { name: string; values: (number | null)[]; says: (column: string) => string; facts?: () => Child[] }[],
): HTMLElement {
  const cells: Cells = new Map();
  const table = el(
    "table",
    { class: "mask-heat", "aria-label": `${label} Arrow keys go from cell to cell.` },
    el(
      "thead",
      {},
      el(
        "tr",
        {},
        el("th", {}, corner),
        columns.map((name) => el("th", { scope: "col" }, name)),
      ),
    ),
    el(
      "tbody",
      {},
      rows.map((row) =>
        el(
          "tr",
          {},
          el("th", { scope: "row" }, row.name),
          columns.map((column, at) =>
            percentCell(
              row.values[at] ?? null,
              columns.length <= kMostColumns,
              row.says(column),
              row.facts ?? (() => []),
              cells,
            ),
          ),
        ),
      ),
    ),
  );
  makeWalkable(table, cells);
  return table;
}

export function accuracyMap(network: ShownMasked): HTMLElement | null {
  if (!network.masks.length) {
    return null;
  }
  return heatMap("How often each target is right, in percent.", "right, %", network.targets, [
    { name: "no mask", values: network.unmasked, says: (target) => `${target} without a mask` },
    ...network.masks.flatMap((mask) => [
      {
        name: `mask ${mask.name}`,
        values: mask.accuracy,
        says: (target: string) => `${target} under the mask of ${mask.name}`,
        facts: () =>
          isNumber(mask.untrained) ? [fact("on an untrained network", measured(mask.untrained, "%", 1))] : [],
      },
      {
        name: `all but ${mask.name}`,
        values: mask.inverse,
        says: (target: string) => `${target} without what the mask of ${mask.name} keeps`,
      },
    ]),
  ]);
}

// One for each mask, and one for what each leaves out.
export function answerMaps(network: ShownMasked): HTMLElement | null {
  const answers = [...network.targets, "neither"];
  const maps = network.masks
    .flatMap((mask) => [
      { name: `mask ${mask.name}`, shares: mask.confusion },
      { name: `all but ${mask.name}`, shares: mask.inverseConfusion },
    ])
    .flatMap(({ name, shares }) =>
      shares
        ? [
            el(
              "figure",
              {},
              el("figcaption", {}, name),
              heatMap(
                `${name}: answers to each question, in percent.`,
                "asked",
                answers,
                shares.map((row, asked) => ({
                  name: network.targets[asked] ?? "",
                  values: row,
                  says: (answer) => `asked for ${network.targets[asked]}, answered with ${answer}, ${name}`,
                })),
              ),
            ),
          ]
        : [],
    );
  return maps.length
    ? el(
        "div",
        { class: "answer-maps" },
        el("p", { class: "mask-part" }, "answers, % of what is asked (down) by what is given (across)"),
        el("div", { class: "answer-grid" }, maps),
      )
    : null;
}
