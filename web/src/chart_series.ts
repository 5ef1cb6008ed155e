// Series as lines with bands, as bars with whiskers, and in a file's legend.
import type { ChartFigure, Panel } from "./chart_points";
import { isBars, seriesOf } from "./chart_points";
import type { ChartOptions, Spec } from "./chart_options";
import { colourOf } from "./palette";

const kLegendLine = 20;

// Fades what is not the series under the pointer; on the page only.
function opacity(options: ChartOptions, full: number): Spec {
  const faded = { test: "emphasis !== null && emphasis !== datum.series", value: full * 0.18 };
  return { opacity: options.file ? { value: full } : { condition: faded, value: full } };
}

function seriesEncodings(names: string[], options: ChartOptions): { colour: Spec; dash: Spec; shape: Spec } {
  const styles = names.map((name) => options.palette(name));
  const by = (range: unknown[]): Spec => ({
    field: "series",
    type: "nominal",
    scale: { domain: names, range },
    legend: null,
  });
  return {
    colour: by(styles.map((style) => colourOf(style, options.look))),
    dash: by(styles.map((style) => (style.dash.length ? style.dash : [1, 0]))),
    shape: by(styles.map((style) => style.shape)),
  };
}

function shown(options: ChartOptions): Spec[] {
  return options.file ? [] : [{ filter: "indexof(hidden, datum.series) < 0" }];
}

const kSignEvery = 8; // points of a curve

// Points of curves are many and small. Some of them are drawn large, at other places for each series, so that these are
// told apart without colour.
function signs(panel: Panel, names: string[]): unknown[] {
  return names.flatMap((name, at) =>
    panel.points
      .filter((point) => point.series === name)
      .filter((_, place) => (place + 2 * at) % kSignEvery === kSignEvery - 1)
      .map(({ key: _, ...point }) => point),
  );
}

export function lineLayers(
  panel: Panel,
  names: string[],
  x: Spec,
  y: Spec,
  options: ChartOptions,
  curves: boolean,
): Spec[] {
  const size = options.file ? 30 : 36;
  const { colour, dash, shape } = seriesEncodings(names, options);
  const order = { field: "x", type: typeof panel.points[0]?.x === "number" ? "quantitative" : "nominal" };
  const ordered = x.type === "quantitative" ? { order } : {};
  const low = { ...y, field: "low" };
  const withError = panel.points.filter((point) => point.low !== null);
  // A band needs two points; a series with one shows its error as a bar.
  const alone = withError.filter((point) => withError.filter((other) => other.series === point.series).length === 1);
  const banded = withError.filter((point) => !alone.includes(point));
  return [
    {
      data: { values: banded },
      transform: shown(options),
      mark: { type: "area", line: false, interpolate: "linear" },
      encoding: {
        x,
        y: low,
        y2: { field: "high" },
        color: colour,
        ...opacity(options, options.look.dark ? 0.2 : 0.15),
      },
    },
    {
      data: { values: alone },
      transform: shown(options),
      mark: { type: "rule", strokeWidth: 1.5 },
      encoding: { x, y: low, y2: { field: "high" }, color: colour, ...opacity(options, 0.8) },
    },
    {
      transform: shown(options),
      mark: { type: "line", strokeWidth: 2, strokeCap: "butt", strokeJoin: "round" },
      encoding: { x, y, color: colour, strokeDash: dash, ...ordered, ...opacity(options, 1) },
    },
    {
      transform: shown(options),
      mark: { type: "point", filled: true, size: curves ? 9 : size },
      encoding: { x, y, color: colour, shape, ...opacity(options, 1) },
    },
    ...(curves
      ? [
          {
            data: { values: signs(panel, names) },
            transform: shown(options),
            mark: { type: "point", filled: true, size },
            encoding: { x, y, color: colour, shape, ...opacity(options, 1) },
          },
        ]
      : []),
  ];
}

// Beside each other where several series have a value at one place.
export function barLayers(
  names: string[],
  x: Spec,
  y: Spec,
  domain: [number, number],
  options: ChartOptions,
  beside: boolean,
): Spec[] {
  const { colour, shape } = seriesEncodings(names, options);
  const offset =
    names.length > 1 && beside
      ? { xOffset: { field: "series", type: "nominal", sort: names, scale: { paddingInner: 0.08 } } }
      : {};
  const { axis: _, ...scaleOnly } = y;
  return [
    {
      // A bar without height must not look like one that is missing.
      transform: [...shown(options), { filter: `abs(datum.mean) < ${(domain[1] - domain[0]) * 0.004}` }],
      mark: { type: "tick", orient: "horizontal", thickness: 3, yOffset: -1.5 },
      encoding: { x, y, ...offset, color: colour, ...opacity(options, 0.92) },
    },
    {
      transform: shown(options),
      mark: { type: "bar", cornerRadiusEnd: 1.5 },
      encoding: {
        x,
        y,
        y2: { datum: options.measure.log ? domain[0] : Math.max(domain[0], 0) },
        ...offset,
        color: colour,
        ...opacity(options, 0.92),
      },
    },
    {
      transform: [...shown(options), { filter: "datum.low !== null" }],
      mark: { type: "rule", strokeWidth: 1.3, color: options.look.ink },
      encoding: { x, y: { ...scaleOnly, field: "low" }, y2: { field: "high" }, ...offset, ...opacity(options, 0.85) },
    },
    // On top of each bar the point that its series has in lines, so that bars are told apart without colour.
    ...(names.length > 1
      ? [
          {
            transform: [...shown(options), { calculate: "datum.high === null ? datum.mean : datum.high", as: "top" }],
            mark: { type: "point", filled: true, size: 20, yOffset: -6 },
            encoding: {
              x,
              y: { ...scaleOnly, field: "top" },
              ...offset,
              color: colour,
              shape,
              ...opacity(options, 1),
            },
          },
        ]
      : []),
  ];
}

// Shares on top of each other, in the order of the series. In each that has room the point of its series, so that they are
// told apart without colour.
export function stackLayers(panel: Panel, names: string[], x: Spec, y: Spec, options: ChartOptions): Spec[] {
  const { colour, shape } = seriesEncodings(names, options);
  const heights = new Map<unknown, number>();
  const pieces = [...panel.points]
    .sort((one, other) => names.indexOf(one.series) - names.indexOf(other.series))
    .map((point) => {
      const from = heights.get(point.x) ?? 0;
      heights.set(point.x, from + point.mean);
      return { ...point, from, to: from + point.mean, middle: from + point.mean / 2 };
    });
  const { axis: _, ...scaleOnly } = y;
  return [
    {
      data: { values: pieces.filter((piece) => piece.mean > 0) },
      transform: shown(options),
      mark: { type: "bar", stroke: options.look.paper, strokeWidth: 1 },
      encoding: { x, y: { ...y, field: "from" }, y2: { field: "to" }, color: colour, ...opacity(options, 0.92) },
    },
    {
      data: { values: pieces.filter((piece) => piece.mean >= 8) },
      transform: shown(options),
      mark: { type: "point", filled: true, size: 30, color: options.look.paper },
      encoding: { x, y: { ...scaleOnly, field: "middle" }, shape, ...opacity(options, 1) },
    },
  ];
}

// A file's legend: the line, the point and the name of each series, wrapped to the chart's width.
export function seriesLegend(figure: ChartFigure, options: ChartOptions, width: number): Spec {
  const bars = isBars(figure);
  const sample = bars ? 12 : 26;
  let left = 0;
  let line = 0;
  const items = seriesOf(figure)
    .filter((name) => !options.hidden.includes(name))
    .map((series) => {
      const space = sample + 6 + series.length * 6.1 + 18;
      if (left > 0 && left + space > width) {
        left = 0;
        line += 1;
      }
      const item = {
        series,
        from: left,
        middle: left + sample / 2,
        to: left + sample,
        text: left + sample + 6,
        y: line * kLegendLine + 8,
      };
      left += space;
      return item;
    });
  const { colour, dash, shape } = seriesEncodings(seriesOf(figure), options);
  const raw = (field: string): Spec => ({ field, type: "quantitative", scale: null, axis: null });
  const symbols = bars
    ? [
        {
          mark: { type: "point", filled: true, shape: "square", size: 130 },
          encoding: { x: raw("middle"), y: raw("y"), color: colour },
        },
        {
          mark: { type: "point", filled: true, size: 30, color: options.look.paper },
          encoding: { x: raw("middle"), y: raw("y"), shape },
        },
      ]
    : [
        {
          mark: { type: "rule", strokeWidth: 2 },
          encoding: { x: raw("from"), x2: { field: "to" }, y: raw("y"), color: colour, strokeDash: dash },
        },
        {
          mark: { type: "point", filled: true, size: 36 },
          encoding: { x: raw("middle"), y: raw("y"), color: colour, shape },
        },
      ];
  return {
    width,
    height: (line + 1) * kLegendLine,
    data: { values: items },
    layer: [
      ...symbols,
      {
        mark: { type: "text", align: "left", baseline: "middle", fontSize: 11, color: options.look.ink },
        encoding: { x: raw("text"), y: raw("y"), text: { field: "series", type: "nominal" } },
      },
    ],
  };
}
