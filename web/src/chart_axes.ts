// Scales and axes that all panels of a chart share.
import type { ChartFigure, Mark, Point } from "./chart_points";
import { axisValues } from "./chart_points";
import type { Place, Spec } from "./chart_options";
import { axisTitle } from "./chart_options";
import { capital } from "./format";
import type { Measure } from "./report";
import { isNumber } from "./report";

// The scale that all panels share. Lines of percentages leave out what lies below all of them; bars start at zero.
export function valueDomain(
  points: Point[],
  measure: Measure,
  baselines: number[],
  fromZero: boolean,
): [number, number] {
  if (measure.domain && measure.unit === "%" && !measure.higher_is_better && points.length) {
    // Of errors that are small the upper end of the scale is far away.
    const most = Math.max(...points.map((point) => point.high ?? point.mean), ...baselines);
    return [measure.domain[0], Math.min(Math.max(most * 1.05, 1), measure.domain[1])];
  }
  if (measure.domain && (measure.unit !== "%" || fromZero || !points.length)) {
    return measure.domain;
  }
  if (measure.domain) {
    const least = Math.min(...points.map((point) => point.low ?? point.mean), ...baselines);
    return [
      Math.min(Math.max(Math.floor((least - 1) / 10) * 10, measure.domain[0]), measure.domain[1] - 10),
      measure.domain[1],
    ];
  }
  const values = points.flatMap((point) => [point.mean, point.low, point.high]).filter(isNumber);
  if (!values.length) {
    return measure.log ? [1, 10] : [0, 1];
  }
  let low = Math.min(...values);
  let high = Math.max(...values);
  if (measure.log) {
    return low === high ? [low / 2, high * 2] : [low, high];
  }
  const margin = (high - low) * 0.05 || Math.abs(high) * 0.05 || 0.5;
  const atLeastZero = low >= 0;
  low = fromZero ? Math.min(low, 0) : low - margin;
  high += margin;
  return [atLeastZero ? Math.max(low, 0) : low, measure.unit === "%" ? Math.min(high, 100) : high];
}

// What all names begin with, up to a slash: "sculpt/" of "sculpt/4-2-4". The axis says it once.
function commonFolder(values: Mark[]): string {
  const folders = new Set(values.map((value) => /^[^/]+\//.exec(String(value))?.[0] ?? ""));
  return folders.size === 1 ? ([...folders][0] ?? "") : "";
}

export function xEncoding(figure: ChartFigure, showTitle: boolean, bars: boolean, width: number): Spec {
  // Places without a value keep their tick.
  const values = axisValues(
    figure.x,
    figure.rows.map((row) => row.x),
  );
  const folder = commonFolder(values);
  const title = showTitle ? capital(figure.x.label) + (folder && ` (${folder}…)`) : null;
  const numbers = values.filter(isNumber);
  if (bars || figure.x.ordinal || numbers.length < values.length) {
    const longest = Math.max(...values.map((value) => String(value).length - folder.length));
    const wordy = longest > 5 && longest * 6.2 + 8 > width / values.length;
    return {
      field: "x",
      type: "ordinal",
      scale: bars
        ? { domain: values, paddingInner: 0.25, paddingOuter: 0.12 }
        : { domain: values, type: "point", padding: 0.5 },
      axis: {
        title,
        labelAngle: wordy ? -30 : 0,
        labelAlign: wordy ? "right" : "center",
        labelLimit: 120,
        labelOverlap: false,
        ticks: !bars,
        ...(folder ? { labelExpr: `slice(datum.label, ${folder.length})` } : {}),
      },
    };
  }
  return {
    field: "x",
    type: "quantitative",
    scale: { domain: [Math.min(...numbers), Math.max(...numbers)], zero: false, nice: false, padding: 10 },
    axis: {
      title,
      values: numbers.length <= 12 ? numbers : undefined,
      // Steps of a training are many.
      ...(figure.kind === "curves"
        ? { format: "~s", labelExpr: "datum.value === 0 ? '0' : datum.label" }
        : { format: ".6~g" }),
      tickCount: Math.max(2, Math.floor(width / 60)),
      labelOverlap: true,
    },
  };
}

// A title that is longer than its axis goes on two lines.
function inLines(title: string, length: number): string | string[] {
  const middle = title.lastIndexOf(" ", title.length * 0.6);
  return title.length * 5.6 <= length + 16 || middle < 0 ? title : [title.slice(0, middle), title.slice(middle + 1)];
}

export function yEncoding(place: Place, domain: [number, number]): Spec {
  const { measure } = place.options;
  const titled = place.leftmost && !place.figure.by_measure; // otherwise the panel says what it shows
  // Narrower scales than a factor of a thousand have room for 2 and 5 between the powers of ten.
  const decades = measure.log ? Math.log10(domain[1] / domain[0]) : 0;
  const axis: Spec = {
    title: titled ? inLines(axisTitle(measure), place.sizes.height) : null,
    labels: place.leftmost || place.scaled,
    grid: true,
  };
  if (measure.log) {
    const steps = decades > 3.5 ? [1] : decades > 1.4 ? [1, 3] : [1, 2, 5];
    const lowest = Math.floor(Math.log10(domain[0]));
    const highest = Math.ceil(Math.log10(domain[1]));
    axis.values = Array.from({ length: highest - lowest + 1 }, (_, at) =>
      steps.map((step) => step * 10 ** (lowest + at)),
    )
      .flat()
      .filter((value) => value >= domain[0] * 0.999 && value <= domain[1] * 1.001);
    axis.format = domain[0] < 1 ? "~g" : "~s";
  }
  return {
    field: "mean",
    type: "quantitative",
    scale: { domain, zero: false, nice: false, type: measure.log ? "log" : "linear" },
    axis,
  };
}
