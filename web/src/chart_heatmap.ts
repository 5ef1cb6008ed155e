// Heat maps: coloured cells with their values in them.
import type { ChartFigure, Mark, Point } from "./chart_points";
import { axisValues } from "./chart_points";
import type { ChartOptions, Place, Spec } from "./chart_options";
import { axisTitle, titleLayer } from "./chart_options";
import { bare, capital } from "./format";
import { inkOn, rampColour } from "./palette";
import type { Measure } from "./report";
import { isNumber } from "./report";

export function heatmapHeight(figure: ChartFigure): number {
  return (
    34 *
    Math.max(
      axisValues(
        figure.y,
        figure.rows.map((row) => row.y),
      ).length,
      1,
    )
  );
}

// How wide the names of the rows may be: on a phone they must not take the picture's place.
const kNarrowNames = 70;
export function heatmapNames(figure: ChartFigure, width: number): number {
  const names = axisValues(
    figure.y,
    figure.rows.map((row) => row.y),
  );
  const longest = Math.max(...names.map((name) => 6.2 * String(name).length), kNarrowNames);
  return width < 640 ? kNarrowNames : Math.min(longest, 230);
}
// What that is more than any axis takes.
export function heatmapExtra(figure: ChartFigure, width: number): number {
  return 14 + heatmapNames(figure, width) - kNarrowNames;
}

function valueSpan(values: number[], measure: Measure): [number, number] {
  if (measure.is_share && measure.domain) {
    return measure.domain;
  }
  if (!values.length) {
    return measure.log ? [1, 10] : [0, 1];
  }
  return [Math.min(...values), Math.max(...values)];
}

export function heatmapPanel(place: Place): Spec {
  const { figure, panel, sizes } = place;
  const { measure, look } = place.options;
  const values = place.points.map((point) => point.mean);
  const span = valueSpan(values, measure);
  const share = (value: number): number => {
    const [low, high, here] = measure.log ? [Math.log(span[0]), Math.log(span[1]), Math.log(value)] : [...span, value];
    return high === low ? 0.5 : (here - low) / (high - low);
  };
  const columns = axisValues(
    figure.x,
    figure.rows.map((row) => row.x),
  );
  const cellWidth = sizes.width / Math.max(columns.length, 1);
  const cells = panel.points.map((point) => {
    const fill = rampColour(look, share(point.mean));
    return { ...point, fill, ink: inkOn(fill), text: bare(point.mean, measure.unit, cellWidth < 44 ? 2 : 3) };
  });
  const rows = axisValues(
    figure.y,
    figure.rows.map((row) => row.y),
  );
  // Numbers grow upwards, as on any axis; names are read downwards.
  const downwards: Mark[] = rows.every(isNumber) ? [...rows].reverse() : rows;
  const x = {
    field: "x",
    type: "ordinal",
    scale: { domain: columns },
    axis: {
      title: place.lowest ? capital(figure.x.label) : null,
      labelAngle: 0,
      domain: false,
      ticks: false,
      labelOverlap: false,
    },
  };
  const y = {
    field: "y",
    type: "ordinal",
    scale: { domain: downwards },
    axis: {
      title: place.leftmost && figure.y ? capital(figure.y.label) : null,
      labels: place.leftmost,
      domain: false,
      ticks: false,
      grid: false,
      labelLimit: heatmapNames(figure, place.options.width),
    },
  };
  const longest = Math.max(...cells.map((cell) => cell.text.length), 4);
  const fontSize = Math.min(11, (cellWidth - 3) / (longest * 0.58));
  return {
    width: sizes.width,
    height: heatmapHeight(figure),
    view: { fill: look.empty },
    data: { values: cells },
    layer: [
      ...titleLayer(panel, look),
      {
        mark: { type: "rect", stroke: look.paper, strokeWidth: 1.5 },
        encoding: { x, y, color: { field: "fill", type: "nominal", scale: null, legend: null } },
      },
      {
        mark: { type: "text", fontSize, baseline: "middle" },
        encoding: {
          x,
          y,
          text: { field: "text", type: "nominal" },
          color: { field: "ink", type: "nominal", scale: null, legend: null },
        },
      },
    ],
  };
}

// The heat map's colours from low to high, as a strip with its ends named.
export function rampLegend(points: Point[], options: ChartOptions): Spec {
  const { look, measure } = options;
  const [low, high] = valueSpan(
    points.map((point) => point.mean),
    measure,
  );
  const steps = 48;
  const width = 180;
  const strip = Array.from({ length: steps }, (_, at) => ({
    from: (at * width) / steps,
    to: ((at + 1) * width) / steps + 0.5,
    fill: rampColour(look, at / (steps - 1)),
  }));
  const raw = (field: string): Spec => ({ field, type: "quantitative", scale: null, axis: null });
  const label = (text: string, x: number, y: number, align: string): Spec => ({
    data: { values: [{ text }] },
    mark: { type: "text", align, baseline: "middle", fontSize: 11, color: look.muted },
    encoding: { x: { value: x }, y: { value: y }, text: { field: "text", type: "nominal" } },
  });
  const ends = [bare(low, measure.unit), bare(high, measure.unit)];
  const left = 8 + 6.2 * (ends[0]?.length ?? 0);
  const better = measure.higher_is_better ? "more is better" : "less is better";
  const meaning = `${axisTitle(measure)}, ${better}${measure.log ? ", logarithmic" : ""}`;
  const narrow = options.width < 560; // then the meaning goes below the strip
  return {
    width: width + left + 8,
    height: narrow ? 30 : 12,
    layer: [
      {
        data: { values: strip.map((step) => ({ ...step, from: step.from + left, to: step.to + left })) },
        mark: { type: "rect", height: 12 },
        encoding: {
          x: raw("from"),
          x2: { field: "to" },
          y: { value: 6 },
          color: { field: "fill", type: "nominal", scale: null, legend: null },
        },
      },
      label(ends[0] ?? "", left - 6, 6, "right"),
      label(narrow ? (ends[1] ?? "") : `${ends[1] ?? ""}   ${meaning}`, left + width + 6, 6, "left"),
      ...(narrow ? [label(meaning, left, 24, "left")] : []),
    ],
  };
}
