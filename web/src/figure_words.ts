// A point of a figure in words: for the tooltip, for the panel that a click opens, and for the table of values.
import type { ChartFigure } from "./chart_points";
import { isBars, measuresShown } from "./chart_points";
import { el, svg } from "./dom";
import type { Child } from "./dom";
import { capital, measured, plural } from "./format";
import type { Palette } from "./palette";
import type { Axis, Measure, Row } from "./report";
import { drawnWords, figureName, isNumber } from "./report";
import { inBothThemes, swatch } from "./swatch";
import { fact } from "./tooltip";

export function place(axis: Axis, value: string | number): string {
  return typeof value === "number" ? `${capital(axis.label)} ${value}` : value;
}

// Everything that names the point except its series.
export function whereabouts(figure: ChartFigure, row: Row): string {
  const parts: string[] = [];
  for (const [axis, value] of [
    [figure.row, row.row],
    [figure.panel, row.panel],
    [figure.y, row.y],
    [figure.x, row.x],
  ] as const) {
    if (axis && value !== null && value !== undefined) {
      parts.push(axis === figure.panel || axis === figure.row ? place(axis, value) : `${capital(axis.label)} ${value}`);
    }
  }
  return parts.join(" · ");
}

function heading(figure: ChartFigure, row: Row, palette: Palette): Child {
  return [
    row.series
      ? el(
          "div",
          { class: "point-series" },
          swatch(palette(row.series), isBars(figure)),
          el("strong", {}, row.series),
        )
      : null,
    el("div", { class: "point-place" }, whereabouts(figure, row)),
  ];
}

function numbers(figure: ChartFigure, row: Row, measure: Measure): Child {
  const value = row.values[measure.name];
  if (!value) {
    return null;
  }
  return [
    fact(capital(measure.label), el("strong", {}, measured(value.mean, measure.unit))),
    isNumber(value.within)
      ? fact(
          isNumber(value.between) ? `error within ${drawnWords(figure)}` : "error over seeds",
          `± ${measured(value.within, measure.unit)}`,
        )
      : null,
    isNumber(value.between) ? fact(`error between ${drawnWords(figure)}`, `± ${measured(value.between, measure.unit)}`) : null,
    fact(figure.kind === "votes" ? "contests" : "networks", value.n),
  ];
}

// The settings behind a point, where there was something to choose.
function chosenIn(row: Row): { split: number | null; settings: string }[] {
  return (row.chosen ?? []).filter((one) => one.settings);
}

export function tooltipWords(figure: ChartFigure, row: Row, measure: Measure, palette: Palette): Child[] {
  const chosen = chosenIn(row);
  const kinds = new Set(chosen.map((one) => one.settings)).size;
  return [
    heading(figure, row, palette),
    numbers(figure, row, measure),
    chosen.length
      ? el(
          "div",
          { class: "point-chosen" },
          chosen.slice(0, 3).map((one) => el("div", {}, el("span", {}, one.split === null ? "" : `${figure.drawn ?? "split"} ${one.split}: `), one.settings)),
          chosen.length > 3
            ? el("div", {}, `and ${plural(chosen.length - 3, figure.drawn ?? "split")} more, ${kinds} different settings`)
            : null,
        )
      : null,
  ];
}

// The single runs behind a mean, as dots on a line.
function strip(runs: number[], mean: number, unit: string): HTMLElement | null {
  if (runs.length < 2) {
    return null;
  }
  const low = Math.min(...runs);
  const high = Math.max(...runs);
  const width = 300;
  const at = (value: number): number => 8 + (high > low ? (value - low) / (high - low) : 0.5) * (width - 16);
  return el(
    "figure",
    { class: "strip" },
    svg(
      "svg",
      {
        viewBox: `0 0 ${width} 24`,
        width,
        height: 24,
        role: "img",
        "aria-label": `${runs.length} runs from ${measured(low, unit)} to ${measured(high, unit)}`,
      },
      svg("line", { class: "strip-axis", x1: 8, x2: width - 8, y1: 12, y2: 12 }),
      svg("line", { class: "strip-mean", x1: at(mean), x2: at(mean), y1: 3, y2: 21 }),
      runs.map((run) => svg("circle", { class: "strip-run", cx: at(run).toFixed(1), cy: 12, r: 4 })),
    ),
    el(
      "figcaption",
      {},
      el("span", {}, measured(low, unit)),
      el("span", {}, plural(runs.length, "run")),
      el("span", {}, measured(high, unit)),
    ),
  );
}

export function detailWords(figure: ChartFigure, row: Row, measure: Measure, palette: Palette): Child[] {
  const value = row.values[measure.name];
  const runs = (value?.runs ?? []).filter(isNumber);
  const chosen = chosenIn(row);
  const style = row.series ? palette(row.series) : null;
  return [
    el("div", { class: "detail-head" }, heading(figure, row, palette)),
    el(
      "div",
      { class: "detail-body", style: style ? inBothThemes(style) : null },
      el(
        "div",
        { class: "detail-numbers" },
        numbers(figure, row, measure),
        value && isNumber(value.mean) ? strip(runs, value.mean, measure.unit) : null,
      ),
      chosen.length
        ? el(
            "table",
            { class: "plain" },
            el("caption", {}, "Settings that won on validation"),
            el("thead", {}, el("tr", {}, el("th", { scope: "col" }, capital(figure.drawn ?? "split")), el("th", { scope: "col" }, "Settings"))),
            el(
              "tbody",
              {},
              chosen.map((one) =>
                el("tr", {}, el("td", {}, one.split ?? ""), el("td", { class: "settings" }, one.settings)),
              ),
            ),
          )
        : figure.kind === "votes"
          ? null
          : el("p", { class: "note" }, "Nothing was selected here: every run of the cell counts."),
    ),
  ];
}

export function valueTable(figure: ChartFigure, measure: Measure): HTMLElement {
  const facets = [
    { axis: figure.row, of: "row" },
    { axis: figure.panel, of: "panel" },
    { axis: figure.series, of: "series" },
    { axis: figure.y, of: "y" },
    { axis: figure.x, of: "x" },
  ] as const;
  const used = facets.filter((facet) => facet.axis);
  const shown = measuresShown(figure, measure);
  const head = [
    ...(figure.by_measure ? ["Measure"] : []),
    ...used.map((facet) => capital(facet.axis?.label ?? "")),
    figure.by_measure ? "Mean" : capital(measure.label),
    "± within",
    "± between",
    "n",
  ];
  return el(
    "div",
    { class: "scroll", tabindex: 0, role: "region", "aria-label": `Values of ${figureName(figure)}` },
    el(
      "table",
      { class: "plain" },
      el(
        "thead",
        {},
        el(
          "tr",
          {},
          head.map((name) => el("th", { scope: "col" }, name)),
        ),
      ),
      el(
        "tbody",
        {},
        shown.flatMap((one) =>
          figure.rows.map((row) => {
            const value = row.values[one.name];
            return el(
              "tr",
              {},
              figure.by_measure ? el("td", {}, capital(one.label)) : null,
              used.map((facet) => el("td", {}, row[facet.of] ?? "")),
              [value?.mean, value?.within, value?.between].map((number) =>
                el("td", { class: "number" }, measured(number ?? null, one.unit)),
              ),
              el("td", { class: "number" }, value?.n ?? 0),
            );
          }),
        ),
      ),
    ),
  );
}
