// Percentages as a heat map, a cell for each row and column, which arrow keys walk.
import { makeWalkable } from "./cell_walk";
import type { Cells } from "./cell_walk";
import { el } from "./dom";
import type { Child } from "./dom";
import { measured } from "./format";
import { divergingColour, inBothLooks, rampColour } from "./palette";
import type { Look } from "./palette";
import { isNumber } from "./report";
import { filledInBothThemes } from "./swatch";
import { fact } from "./tooltip";

const kMostColumns = 8; // whose cells have room for a number

// How a number looks, and what it is called.
interface Scale {
  colour: (look: Look, value: number) => string;
  name: string;
  says: (value: number | null) => string;
}
const kShares: Scale = {
  colour: (look, value) => rampColour(look, value / 100),
  name: "share",
  says: (value) => measured(value, "%", 1),
};
// Points of a percentage, more or fewer; by their root, so that few of them can be seen beside many.
export const kDifferences: Scale = {
  colour: (look, value) => divergingColour(look, (1 + Math.sign(value) * Math.sqrt(Math.abs(value) / 100)) / 2),
  name: "difference",
  says: (value) => {
    const sign = (value ?? 0) > 0 ? "+" : (value ?? 0) < 0 ? "−" : "";
    return isNumber(value) ? `${sign}${Math.abs(value).toFixed(1)} points` : "–";
  },
};

function percentCell(
  value: number | null,
  isWritten: boolean,
  where: string,
  facts: () => Child[],
  scale: Scale,
  cells: Cells,
): HTMLElement {
  const style = isNumber(value) ? filledInBothThemes(inBothLooks((look) => scale.colour(look, value))) : "";
  const cell = el(
    "td",
    { class: isNumber(value) ? "filled" : "empty", style, "aria-label": `${where}: ${scale.says(value)}` },
    isWritten ? (isNumber(value) ? Math.round(value) : "–") : "",
  );
  cells.set(cell, () => [
    el("div", { class: "point-place" }, where),
    fact(scale.name, scale.says(value)),
    ...facts(),
  ]);
  return cell;
}

export interface PercentRow {
  name: string;
  values: (number | null)[]; // by column
  says: (column: string) => string; // what a cell is
  facts?: (at: number) => Child[]; // what else there is to say of one
}

export function percentMap(
  label: string,
  corner: string,
  columns: string[],
  rows: PercentRow[],
  scale: Scale = kShares,
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
              () => row.facts?.(at) ?? [],
              scale,
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
