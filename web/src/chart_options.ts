// What a chart's parts share: how it should look, how large it is, which panel is drawn.
import type { ChartFigure, ErrorKind, Panel, Point } from "./chart_points";
import { capital } from "./format";
import type { Look, Palette } from "./palette";
import type { Measure } from "./report";

export type Spec = Record<string, unknown>;

export interface ChartOptions {
  measure: Measure;
  error: ErrorKind;
  look: Look;
  palette: Palette;
  width: number; // of everything, axes included
  file: boolean; // a file brings its legend along; on the page the legend is a row of buttons
  title: boolean;
  hidden: string[]; // series that are left out
}

export interface Sizes {
  columns: number;
  width: number; // of one panel
  height: number;
  gap: number;
}

// One panel among the others.
export interface Place {
  figure: ChartFigure;
  panel: Panel;
  points: Point[]; // of all panels, which share their scales
  sizes: Sizes;
  leftmost: boolean; // has the axis on its left
  scaled: boolean; // has a scale of its own, and so its numbers
  lowest: boolean; // has no panel below it
  options: ChartOptions;
}

export function axisTitle(measure: Measure): string {
  const label = capital(measure.label);
  return measure.unit && !label.includes(measure.unit) ? `${label} (${measure.unit})` : label;
}

export function config(look: Look): Spec {
  return {
    background: look.background ?? "transparent",
    font: look.font,
    padding: look.background ? 8 : { left: 0, right: 2, top: 2, bottom: 2 },
    aria: false,
    view: { stroke: null },
    axis: {
      labelColor: look.muted,
      titleColor: look.muted,
      labelFontSize: 11,
      titleFontSize: 11,
      titleFontWeight: 500,
      titlePadding: 8,
      gridColor: look.grid,
      domainColor: look.line,
      tickColor: look.line,
      tickSize: 4,
      labelPadding: 4,
    },
    axisY: { domain: false, ticks: false, tickCount: 5 },
    axisX: { grid: false },
    title: { anchor: "start", fontWeight: 600, color: look.ink },
    legend: {
      labelColor: look.muted,
      titleColor: look.muted,
      labelFontSize: 11,
      titleFontSize: 11,
      titleFontWeight: 500,
    },
    text: { color: look.ink },
  };
}

// A panel's title stands at its own left edge, whatever its axes need; Vega's would move with them.
export function titleLayer(panel: Panel, look: Look): Spec[] {
  return panel.title
    ? [
        {
          data: { values: [{ text: panel.title }] },
          mark: {
            type: "text",
            align: "left",
            baseline: "alphabetic",
            fontSize: 12.5,
            fontWeight: 600,
            color: look.ink,
          },
          encoding: { x: { value: 0 }, y: { value: -11 }, text: { field: "text", type: "nominal" } },
        },
      ]
    : [];
}
