// From a figure's rows to what is drawn: points with their error bars, in panels.
import type { Axis, Figure, Measure } from "./report";
import { isNumber } from "./report";

export type ErrorKind = "within" | "between" | "none";
export type Mark = number | string;

// A figure that is drawn, not a table.
export type ChartFigure = Figure & { x: Axis };

export function isChart(figure: Figure): figure is ChartFigure {
  return figure.kind !== "table" && figure.x !== null;
}

export interface Point {
  key: number; // its place in figure.rows
  measure: string;
  series: string;
  x: Mark;
  y: Mark;
  mean: number;
  low: number | null;
  high: number | null;
}

export interface Panel {
  title: string;
  name: string | null; // the value of figure.panel
  row: string | null; // the value of figure.row
  points: Point[];
}

export const kOnlySeries = "all";

// Lines through points, however many.
export function isLines(figure: Figure): boolean {
  return figure.kind === "lines" || figure.kind === "curves";
}

// Bars beside or on top of each other.
export function isBars(figure: Figure): boolean {
  return figure.kind === "bars" || figure.kind === "votes";
}

// The measures that are shown at once.
export function measuresShown(figure: Figure, chosen: Measure): Measure[] {
  return figure.by_measure ? figure.measures : [chosen];
}

// Where there is one split, the error within it is all there is.
export function hasSplits(figure: Figure): boolean {
  return figure.rows.some((row) => Object.values(row.values).some((value) => isNumber(value?.between)));
}

// The error bands that a figure starts with: over seeds, or, of one seed each, between what was drawn.
export function firstError(figure: Figure): ErrorKind {
  const values = figure.rows.flatMap((row) => Object.values(row.values));
  return values.some((value) => isNumber(value?.within)) ? "within" : hasSplits(figure) ? "between" : "none";
}

// The values of an axis in the order to show them: the given order first, then numbers by size, then names as they come.
export function axisValues(axis: Axis | null, found: (Mark | null | undefined)[]): Mark[] {
  const present = new Set(found.filter((value): value is Mark => value !== null && value !== undefined));
  const ordered = (axis?.order ?? []).filter((value) => present.delete(value));
  const rest = [...present];
  if (rest.every(isNumber)) {
    rest.sort((one, other) => one - other);
  }
  return [...ordered, ...rest];
}

export function seriesOf(figure: ChartFigure): string[] {
  return axisValues(
    figure.series,
    figure.rows.map((row) => row.series),
  ).map(String);
}

export function pointsOf(figure: ChartFigure, measure: Measure, error: ErrorKind): Point[] {
  return figure.rows.flatMap((row, key) => {
    const value = row.values[measure.name];
    if (!value || !isNumber(value.mean) || (measure.log && value.mean <= 0)) {
      return [];
    }
    const mean = value.mean;
    const half = error === "none" ? null : value[error];
    const [least, most] = measure.domain ?? [-Infinity, Infinity];
    const low = isNumber(half) ? Math.max(mean - half, least, measure.log ? mean / 20 : -Infinity) : null;
    const high = isNumber(half) ? Math.min(mean + half, most) : null;
    return [{ key, measure: measure.name, series: row.series ?? kOnlySeries, x: row.x, y: row.y ?? "", mean, low, high }];
  });
}

// Panels in reading order. In a grid of rows and panels the empty ones stay, so that columns keep their meaning.
export function panelsOf(figure: ChartFigure, points: Point[]): Panel[] {
  const names = figure.panel
    ? axisValues(
        figure.panel,
        figure.rows.map((row) => row.panel),
      )
    : [null];
  const rows = figure.row
    ? axisValues(
        figure.row,
        figure.rows.map((row) => row.row),
      )
    : [null];
  const title = (axis: Axis | null, value: Mark | null): string =>
    value === null ? "" : typeof value === "number" && axis ? `${axis.label} ${value}` : String(value);
  const panels = rows.flatMap((row) =>
    names.map((name) => ({
      title: [title(figure.row, row), title(figure.panel, name)].filter(Boolean).join(" · "),
      name: name === null ? null : String(name),
      row: row === null ? null : String(row),
      points: points.filter((point) => {
        const source = figure.rows[point.key];
        return (source?.panel ?? null) === name && (source?.row ?? null) === row;
      }),
    })),
  );
  return figure.row ? panels : panels.filter((panel) => panel.points.length);
}
