// The dashed line of a network that always answers 0, with a label that keeps out of the way.
import type { ChartFigure, Mark, Panel } from "./chart_points";
import { axisValues } from "./chart_points";
import type { ChartOptions, Place, Spec } from "./chart_options";
import type { Figure, Measure } from "./report";
import { isNumber } from "./report";

// The score of always answering 0 is one of accuracy by bits, and of no other measure.
export function baselinesOf(figure: ChartFigure, measure: Measure): Figure["baseline"] {
  return /^(test|train|validation|unseen|seen)(_accuracy)?$/.test(measure.name) ? figure.baseline : [];
}

type Pixel = { x: number; y: number };

// Where the panel's lines or bars run, in pixels.
function linePixels(
  figure: ChartFigure,
  panel: Panel,
  domain: [number, number],
  size: { width: number; height: number },
  options: ChartOptions,
): Pixel[] {
  const values = axisValues(
    figure.x,
    figure.rows.map((row) => row.x),
  );
  const numbers = values.filter(isNumber);
  const bars = figure.kind === "bars";
  const even = bars || figure.x.ordinal || numbers.length < values.length;
  const [first, last] = [Math.min(...numbers), Math.max(...numbers)];
  const across = (x: Mark): number =>
    even ? (values.indexOf(x) + 0.5) / values.length : last > first ? (Number(x) - first) / (last - first) : 0.5;
  const down = (value: number): number => ((domain[1] - value) / (domain[1] - domain[0])) * size.height;
  const pixels: Pixel[] = [];
  for (const series of new Set(panel.points.map((point) => point.series))) {
    if (options.hidden.includes(series) && options.file) {
      continue;
    }
    const line = panel.points
      .filter((point) => point.series === series)
      .map((point) => ({ x: across(point.x) * (size.width - 20) + 10, y: down(point.mean) }))
      .sort((one, other) => one.x - other.x);
    line.forEach((point, at) => {
      const next = line[at + 1] ?? point;
      for (let step = 0; step < 6; ++step) {
        pixels.push({ x: point.x + ((next.x - point.x) * step) / 6, y: point.y + ((next.y - point.y) * step) / 6 });
      }
      for (let y = point.y; bars && y < size.height; y += 6) {
        pixels.push({ x: point.x, y });
      }
    });
  }
  return pixels;
}

interface Side {
  x: number;
  align: "left" | "center" | "right";
  above: boolean;
}

// The place along a horizontal line where a label of that length covers the fewest other lines; the right end if it can.
function quietSide(lines: Pixel[], y: number, length: number, width: number): Side {
  const places = [
    { x: width, align: "right", from: width - length },
    { x: 0, align: "left", from: 0 },
    { x: width * 0.7, align: "center", from: width * 0.7 - length / 2 },
    { x: width * 0.4, align: "center", from: width * 0.4 - length / 2 },
  ] as const;
  let best: Side = { x: width, align: "right", above: false };
  let least = Infinity;
  for (const { x, align, from } of places) {
    for (const above of [false, true]) {
      const [top, bottom] = above ? [y - 16, y + 2] : [y - 2, y + 17];
      const covered = lines.filter(
        (pixel) => pixel.x > from - 4 && pixel.x < from + length + 4 && pixel.y > top && pixel.y < bottom,
      ).length;
      if (covered < least) {
        least = covered;
        best = { x, align, above };
      }
    }
  }
  return best;
}

// Dashed lines go below the marks, their labels above, each with a rim of paper so that it stays legible.
export function baselineLayers(place: Place, domain: [number, number]): { lines: Spec[]; labels: Spec[] } {
  const { figure, panel, options } = place;
  const { width, height } = place.sizes;
  const lines = linePixels(figure, panel, domain, { width, height }, options);
  const shownLines = baselinesOf(figure, options.measure).filter(
    (line) => (line.panel === null || line.panel === panel.name) && line.value >= domain[0] && line.value <= domain[1],
  );
  const y = { field: "value", type: "quantitative" };
  const muted = options.look.muted;
  return {
    lines: shownLines.map((line) => ({
      data: { values: [{ value: line.value }] },
      mark: { type: "rule", strokeDash: [3, 3], color: muted, opacity: 0.75, strokeWidth: 1 },
      encoding: { y },
    })),
    labels: shownLines.flatMap((line) => {
      const side = quietSide(
        lines,
        ((domain[1] - line.value) / (domain[1] - domain[0])) * height,
        line.label.length * 5.4,
        width,
      );
      const text = {
        type: "text",
        align: side.align,
        baseline: side.above ? "bottom" : "top",
        dy: side.above ? -2 : 4,
        fontSize: 10,
      };
      const layer = (look: Spec): Spec => ({
        data: { values: [{ value: line.value, text: line.label }] },
        mark: { ...text, ...look },
        encoding: { y, x: { value: side.x }, text: { field: "text", type: "nominal" } },
      });
      return [
        layer({ color: options.look.paper, stroke: options.look.paper, strokeWidth: 3, strokeJoin: "round" }),
        layer({ color: muted }),
      ];
    }),
  };
}
