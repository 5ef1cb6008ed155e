// Tables as RFC 4180 text, for spreadsheets and data frames.
import type { Chosen, Figure } from "./report";
import { isNumber } from "./report";

type Cell = string | number | null | undefined;

function cell(value: Cell): string {
  if (value === null || value === undefined) {
    return "";
  }
  if (typeof value === "number") {
    return Number.isFinite(value) ? String(value) : "";
  }
  return /[",\r\n]/.test(value) ? `"${value.replace(/"/g, '""')}"` : value;
}

export function csv(rows: Cell[][]): string {
  return rows.map((row) => row.map(cell).join(",") + "\r\n").join("");
}

// One line for each point and measure.
export function figureCsv(figure: Figure): string {
  if (figure.kind === "table" || !figure.rows.length) {
    return csv(figure.table ? [figure.table.columns, ...figure.table.rows] : []);
  }
  const facets = [
    { axis: figure.row, of: "row" },
    { axis: figure.panel, of: "panel" },
    { axis: figure.series, of: "series" },
    { axis: figure.x, of: "x" },
    { axis: figure.y, of: "y" },
  ] as const;
  const used = facets.filter((facet) => facet.axis);
  const lines: Cell[][] = [
    [
      ...used.map((facet) => facet.axis?.name),
      "measure",
      "unit",
      "mean",
      "se_within",
      "se_between",
      "n",
      "runs",
      "chosen",
    ],
  ];
  for (const measure of figure.measures) {
    for (const row of figure.rows) {
      const value = row.values[measure.name];
      if (!value) {
        continue;
      }
      lines.push([
        ...used.map((facet) => row[facet.of]),
        measure.name,
        measure.unit,
        value.mean,
        value.within,
        value.between,
        value.n,
        (value.runs ?? []).filter(isNumber).join(" "),
        (row.chosen ?? []).map((chosen) => chosen.split === null ? chosen.settings : `${figure.drawn ?? "split"} ${chosen.split}: ${chosen.settings}`).join("; "),
      ]);
    }
  }
  return csv(lines);
}

export function chosenCsv(chosen: Chosen[]): string {
  return csv([
    ["series", "cell", "split", "settings", "validation", "tied"],
    ...chosen.map((row) => [row.series, row.cell, row.split, row.settings, row.validation, row.tied]),
  ]);
}
