// The dashed line of what networks are held against, such as guessing, with a label that keeps out of the way.
import type { ChartFigure, Mark, Panel } from "./chart_points";
import { axisValues, isBars } from "./chart_points";
import type { ChartOptions, Place, Spec } from "./chart_options";
import type { Baseline, Measure } from "./report";
import { isNumber } from "./report";

export function baselinesOf(figure: ChartFigure, measure: Measure): Baseline[] {
  return figure.baseline.filter((line) => line.measure === measure.name);
}

type Pixel = { x: number; y: number };

// From values to pixels of a panel.
interface Scales {
  across: (x: Mark) => number;
  down: (value: number) => number;
}

function scalesOf(figure: ChartFigure, domain: [number, number], size: { width: number; height: number }): Scales {
  const values = axisValues(
    figure.x,
    figure.rows.map((row) => row.x),
  );
  const numbers = values.filter(isNumber);
  const even = isBars(figure) || figure.x.ordinal || numbers.length < values.length;
  const [first, last] = [Math.min(...numbers), Math.max(...numbers)];
  const share = (x: Mark): number =>
    even ? (values.indexOf(x) + 0.5) / values.length : last > first ? (Number(x) - first) / (last - first) : 0.5;
  return {
    across: (x) => share(x) * (size.width - 20) + 10,
    down: (value) => ((domain[1] - value) / (domain[1] - domain[0])) * size.height,
  };
}

// Where the panel's lines or bars run.
function linePixels(figure: ChartFigure, panel: Panel, scales: Scales, height: number, options: ChartOptions): Pixel[] {
  const bars = isBars(figure);
  const pixels: Pixel[] = [];
  for (const series of new Set(panel.points.map((point) => point.series))) {
    if (options.hidden.includes(series) && options.file) {
      continue;
    }
    const line = panel.points
      .filter((point) => point.series === series)
      .map((point) => ({ x: scales.across(point.x), y: scales.down(point.mean) }))
      .sort((one, other) => one.x - other.x);
    line.forEach((point, at) => {
      const next = line[at + 1] ?? point;
      for (let step = 0; step < 6; ++step) {
        pixels.push({ x: point.x + ((next.x - point.x) * step) / 6, y: point.y + ((next.y - point.y) * step) / 6 });
      }
      for (let y = point.y; bars && y < height; y += 6) {
        pixels.push({ x: point.x, y });
      }
    });
  }
  return pixels;
}

interface Side {
  x: number;
  y: number;
  align: "left" | "center" | "right";
  above: boolean;
}

// How high a line runs at a place.
function heightAt(line: Pixel[], x: number): number {
  const after = line.findIndex((pixel) => pixel.x >= x);
  const next = line[after] ?? line[line.length - 1];
  const before = line[after - 1] ?? next;
  if (!next || !before) {
    return 0;
  }
  return next.x > before.x && after >= 0
    ? before.y + ((next.y - before.y) * (x - before.x)) / (next.x - before.x)
    : next.y;
}

// The place along a dashed line where a label of that length covers the fewest other lines; the right end if it can.
function quietSide(lines: Pixel[], dashed: Pixel[], length: number, width: number, height: number): Side {
  const places = [
    { x: width, align: "right", from: width - length },
    { x: 0, align: "left", from: 0 },
    { x: width * 0.7, align: "center", from: width * 0.7 - length / 2 },
    { x: width * 0.4, align: "center", from: width * 0.4 - length / 2 },
  ] as const;
  let best: Side = { x: width, y: heightAt(dashed, width), align: "right", above: false };
  let least = Infinity;
  for (const { x, align, from } of places) {
    const along = [from, from + length / 2, from + length].map((place) => heightAt(dashed, place));
    for (const above of [false, true]) {
      // Clear of the dashed line itself, wherever it goes beneath the label.
      const y = above ? Math.min(...along) : Math.max(...along);
      const [top, bottom] = above ? [y - 16, y + 2] : [y - 2, y + 17];
      if (above ? top < -4 : bottom > height) {
        continue; // there the panel has its title, or the axis its numbers
      }
      const covered = lines.filter(
        (pixel) => pixel.x > from - 4 && pixel.x < from + length + 4 && pixel.y > top && pixel.y < bottom,
      ).length;
      if (covered < least) {
        least = covered;
        best = { x, y, align, above };
      }
    }
  }
  return best;
}

// One value everywhere is said in the label.
function labelOf(line: Baseline, measure: Measure): string {
  const name = line.label || "guessing";
  const [first, ...rest] = line.points.map((point) => point.value);
  const percent = measure.unit === "%";
  const constant = first !== undefined && rest.every((value) => Math.abs(value - first) < (percent ? 0.05 : 0.0005));
  return constant ? `${name}: ${percent ? `${Number(first.toFixed(1))} %` : Number(first.toFixed(3))}` : name;
}

// What is outside a scale by the rounding of a formula is on its edge.
function keptWithin(value: number, [low, high]: [number, number]): number {
  const room = (high - low) * 1e-5;
  return value > high && value < high + room ? high : value < low && value > low - room ? low : value;
}

function dashedLine(points: Baseline["points"], place: Place, x: Spec): Spec {
  const look = { strokeDash: [3, 3], color: place.options.look.muted, opacity: 0.75, strokeWidth: 1 };
  const data = { values: points };
  const y = { field: "value", type: "quantitative" };
  if (isBars(place.figure)) {
    // As wide as the bars that it is held against.
    return {
      data,
      mark: { type: "rule", ...look },
      encoding: { x: { ...x, bandPosition: 0 }, x2: { field: "x", bandPosition: 1 }, y },
    };
  }
  return points.length === 1
    ? { data, mark: { type: "rule", ...look }, encoding: { y } }
    : { data, mark: { type: "line", ...look }, encoding: { x, y, order: { field: "place", type: "quantitative" } } };
}

// Dashed lines go below the marks, their labels above, each with a rim of paper so that it stays legible.
export function baselineLayers(place: Place, domain: [number, number], x: Spec): { lines: Spec[]; labels: Spec[] } {
  const { figure, panel, options } = place;
  const { width, height } = place.sizes;
  const scales = scalesOf(figure, domain, { width, height });
  const pixels = linePixels(figure, panel, scales, height, options);
  const lines: Spec[] = [];
  const labels: Spec[] = [];
  for (const line of baselinesOf(figure, options.measure)) {
    const points = line.points
      .map((point) => ({ ...point, value: keptWithin(point.value, domain) }))
      .filter((point) => point.value >= domain[0] && point.value <= domain[1])
      .map((point) => ({ ...point, place: scales.across(point.x) }))
      .sort((one, other) => one.place - other.place);
    if (line.panel !== panel.name || line.row !== panel.row || !points.length) {
      continue;
    }
    lines.push(dashedLine(points, place, x));
    const dashed = points.map((point) => ({ x: point.place, y: scales.down(point.value) }));
    const label = labelOf(line, options.measure);
    // A line along the foot of the bars has its words above them.
    const atFoot = isBars(figure) && points.every((point) => point.value < domain[0] + 0.02 * (domain[1] - domain[0]));
    const side: Side = atFoot
      ? { x: width, y: 14, align: "right", above: true }
      : quietSide(pixels, dashed, label.length * 5.4, width, height);
    const text = {
      type: "text",
      align: side.align,
      baseline: side.above ? "bottom" : "top",
      dy: side.above ? -2 : 4,
      fontSize: 10,
    };
    const layer = (look: Spec): Spec => ({
      data: { values: [{ text: label }] },
      mark: { ...text, ...look },
      encoding: { y: { value: side.y }, x: { value: side.x }, text: { field: "text", type: "nominal" } },
    });
    labels.push(
      layer({ color: options.look.paper, stroke: options.look.paper, strokeWidth: 3, strokeJoin: "round" }),
      layer({ color: options.look.muted }),
    );
  }
  return { lines, labels };
}
