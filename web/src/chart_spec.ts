// Figures as Vega-Lite specifications, for the page and for files alike.
import { valueDomain, xEncoding, yEncoding } from "./chart_axes";
import { baselineLayers, baselinesOf } from "./chart_baseline";
import { heatmapExtra, heatmapHeight, heatmapPanel, rampLegend } from "./chart_heatmap";
import type { ChartOptions, Place, Sizes, Spec } from "./chart_options";
import { axisTitle, config, titleLayer } from "./chart_options";
import type { ChartFigure, ErrorKind } from "./chart_points";
import {
  axisValues,
  hasSplits,
  isBars,
  kOnlySeries,
  measuresShown,
  panelsOf,
  pointsOf,
  seriesOf,
} from "./chart_points";
import { barLayers, lineLayers, seriesLegend, stackLayers } from "./chart_series";
import type { Measure } from "./report";
import { drawnWords } from "./report";

const kAxisWidth = 50;

// Measures side by side share a scale if it is the same for all of them, whatever their values.
function hasOwnScales(figure: ChartFigure): boolean {
  const scale = ({ domain, unit, log }: Measure): string => JSON.stringify([domain, unit, log]);
  const fixed = figure.measures.every((measure) => measure.domain && measure.unit !== "%");
  return Boolean(figure.by_measure) && !(fixed && new Set(figure.measures.map(scale)).size === 1);
}

function grid(figure: ChartFigure, panels: number, options: ChartOptions): Sizes {
  const gap = hasOwnScales(figure) ? 52 : 22;
  const room = options.width - kAxisWidth - (figure.kind === "heatmap" ? heatmapExtra(figure, options.width) : 4);
  const least = options.file ? 150 : figure.kind === "heatmap" ? 240 : 215;
  const across = figure.row
    ? axisValues(
        figure.panel,
        figure.rows.map((row) => row.panel),
      ).length
    : panels;
  let columns = Math.max(1, Math.min(across, Math.floor((room + gap) / (least + gap))));
  if (figure.row && columns < across) {
    // A grid that does not fit is read panel by panel.
    columns = Math.min(columns, 2);
  } else if (columns < across) {
    columns = Math.ceil(across / Math.ceil(across / columns));
  }
  const width = Math.min(Math.floor((room - (columns - 1) * gap) / columns), 760);
  return { columns, width, height: Math.round(Math.min(Math.max(width * 0.7, 170), options.file ? 230 : 270)), gap };
}

// About as high as the chart will be, to keep its place before it is drawn.
export function expectedHeight(figure: ChartFigure, options: ChartOptions): number {
  const panels = measuresShown(figure, options.measure)
    .map((measure) => panelsOf(figure, pointsOf(figure, measure, "none")).length)
    .reduce((sum, each) => sum + each, 0);
  const sizes = grid(figure, panels, options);
  const height = figure.kind === "heatmap" ? heatmapHeight(figure) : sizes.height;
  return Math.ceil(panels / sizes.columns) * (height + 62) + 20;
}

function panelSpec(place: Place): Spec {
  const { figure, panel, sizes, points, options } = place;
  const bars = isBars(figure);
  const names = figure.series ? seriesOf(figure) : [kOnlySeries];
  const baselines = baselinesOf(figure, options.measure).flatMap((line) =>
    line.points.map((point) => point.value),
  );
  const domain = valueDomain(points, options.measure, baselines, bars);
  const x = xEncoding(figure, place.lowest, bars, sizes.width);
  const y = yEncoding(place, domain);
  const marks =
    figure.kind === "votes"
      ? stackLayers(panel, names, x, y, options)
      : bars
        ? barLayers(names, x, y, domain, options, figure.x.name !== figure.series?.name)
        : lineLayers(panel, names, x, y, options, figure.kind === "curves");
  const baseline = baselineLayers(place, domain, x);
  const nothing = {
    data: { values: [{}] },
    mark: { type: "text", color: options.look.muted, fontSize: 11 },
    encoding: { x: { value: sizes.width / 2 }, y: { value: sizes.height / 2 }, text: { value: "no data yet" } },
  };
  return {
    width: sizes.width,
    height: sizes.height,
    data: { values: panel.points },
    layer: [
      ...titleLayer(panel, options.look),
      ...baseline.lines,
      ...marks,
      ...baseline.labels,
      ...(panel.points.length ? [] : [nothing]),
    ],
  };
}

function errorName(figure: ChartFigure, error: ErrorKind): string {
  const within = hasSplits(figure) ? `within ${drawnWords(figure)}` : "over seeds";
  const over = { within, between: `between ${drawnWords(figure)}`, none: "" }[error];
  return over && `standard error ${over}`;
}

// What one panel is made of. Points are those of all panels with its scale.
function scenesOf(figure: ChartFigure, options: ChartOptions): Pick<Place, "panel" | "points" | "options">[] {
  return measuresShown(figure, options.measure).flatMap((measure) => {
    const points = pointsOf(figure, measure, options.error);
    const visible = options.file ? points.filter((point) => !options.hidden.includes(point.series)) : points;
    return panelsOf(figure, visible).map((panel) => ({
      panel: figure.by_measure
        ? { ...panel, title: [axisTitle(measure), panel.title].filter(Boolean).join(" · ") }
        : panel,
      points,
      options: { ...options, measure },
    }));
  });
}

export function chartSpec(figure: ChartFigure, options: ChartOptions): Spec {
  const panels = scenesOf(figure, options);
  const points = panels.flatMap((scene) => scene.points);
  const sizes = grid(figure, panels.length, options);
  const make = figure.kind === "heatmap" ? heatmapPanel : panelSpec;
  const charts: Spec = {
    concat: panels.map((scene, at) =>
      make({
        ...scene,
        figure,
        sizes,
        leftmost: at % sizes.columns === 0,
        scaled: hasOwnScales(figure),
        lowest: at + sizes.columns >= panels.length,
      }),
    ),
    columns: sizes.columns,
    spacing: { row: 26, column: sizes.gap },
    align: "each",
    bounds: "full",
  };
  const parts = [charts];
  if (figure.kind === "heatmap") {
    parts.push(rampLegend(points, options));
  } else if (options.file && figure.series) {
    parts.push(
      seriesLegend(figure, options, sizes.columns * sizes.width + (sizes.columns - 1) * sizes.gap + kAxisWidth),
    );
  }
  const errors =
    figure.kind !== "heatmap" && figure.kind !== "votes" && points.some((point) => point.low !== null)
      ? errorName(figure, options.error)
      : "";
  const subtitle = [
    figure.by_measure ? "" : axisTitle(options.measure),
    errors && `${figure.kind === "bars" ? "bars" : "bands"}: ${errors}`,
  ].filter(Boolean);
  return {
    $schema: "https://vega.github.io/schema/vega-lite/v6.json",
    ...(options.title
      ? {
          title: {
            text: figure.paper ? `${figure.paper}: ${figure.title}` : figure.title,
            subtitle: subtitle.join("; "),
            fontSize: 14,
            subtitleFontSize: 11,
            subtitleColor: options.look.muted,
            frame: "bounds",
            offset: 14,
          },
        }
      : {}),
    vconcat: parts,
    spacing: 14,
    config: config(options.look),
    params: options.file
      ? []
      : [
          { name: "hidden", value: options.hidden },
          { name: "emphasis", value: null },
        ],
  };
}
