// Accuracy over epochs of one network.
import type { Spec } from "./chart_options";
import { el } from "./dom";
import { count, measured } from "./format";
import type { Look } from "./palette";
import type { Curve } from "./report";
import { isNumber } from "./report";
import { fontsReady, look, onThemeChange } from "./theme";
import { fact, hideTooltip, showTooltip } from "./tooltip";
import type { ChartView } from "./vega_view";
import { makeView } from "./vega_view";

interface Line {
  part: "test" | "seen" | "validation" | "train";
  name: string;
  light: string;
  dark: string;
  dash: number[];
  width: number;
}

const kTest: Line = { part: "test", name: "test", light: "#0b5c8a", dark: "#7cc4f2", dash: [], width: 2 };
const kSeen: Line = { part: "seen", name: "seen", light: "#8a4a86", dark: "#d79bd0", dash: [7, 2, 2, 2], width: 1.5 };
const kOthers: Line[] = [
  { part: "validation", name: "validation", light: "#a06a00", dark: "#e0b050", dash: [5, 2], width: 1.4 },
  { part: "train", name: "train", light: "#8a8f97", dark: "#7d838c", dash: [1.5, 2], width: 1.6 },
];

// Of a network on images, the test is on unseen combinations of digits.
export function curveLines(onImages: boolean): Line[] {
  return onImages ? [{ ...kTest, name: "unseen" }, kSeen, ...kOthers] : [kTest, ...kOthers];
}

function accuracyAt(curve: Curve, line: Line, at: number): number | null {
  return curve[line.part]?.[at] ?? null;
}

const kHeight = 110;

function curveSpec(curve: Curve, lines: Line[], bestEpoch: number, width: number, theme: Look): Spec {
  const values = lines.flatMap((line) =>
    curve.epochs.flatMap((epoch, at) => {
      const accuracy = accuracyAt(curve, line, at);
      return isNumber(accuracy) ? [{ epoch, accuracy, name: line.name }] : [];
    }),
  );
  const least = Math.min(...values.map((value) => value.accuracy), 100);
  const names = lines.map((line) => line.name);
  const by = (range: unknown[]): Spec => ({
    field: "name",
    type: "nominal",
    scale: { domain: names, range },
    legend: null,
  });
  const ends = [curve.epochs[0] ?? 0, curve.epochs[curve.epochs.length - 1] ?? 1];
  const x = {
    field: "epoch",
    type: "quantitative",
    scale: { domain: ends, nice: false },
    axis: { title: "Epoch", grid: false, tickCount: 4, format: ",d" },
  };
  return {
    width: width - 34,
    height: kHeight,
    layer: [
      {
        data: { values: [{ epoch: bestEpoch }] },
        mark: { type: "rule", color: theme.line, strokeDash: [2, 2] },
        encoding: { x },
      },
      ...[...lines].reverse().map((line) => ({
        data: { values: values.filter((value) => value.name === line.name) },
        mark: { type: "line", strokeWidth: line.width, strokeJoin: "round" },
        encoding: {
          x,
          y: {
            field: "accuracy",
            type: "quantitative",
            axis: { title: null, tickCount: 3, domain: false, ticks: false },
            scale: { domain: [Math.max(0, Math.min(90, Math.floor(least / 10) * 10)), 100], nice: false },
          },
          color: by(lines.map((one) => (theme.dark ? one.dark : one.light))),
          strokeDash: by(lines.map((one) => (one.dash.length ? one.dash : [1, 0]))),
        },
      })),
    ],
    config: {
      background: "transparent",
      font: theme.font,
      padding: { left: 0, right: 4, top: 4, bottom: 0 },
      aria: false,
      view: { stroke: null },
      axis: {
        labelColor: theme.muted,
        titleColor: theme.muted,
        labelFontSize: 10,
        titleFontSize: 10,
        titleFontWeight: 500,
        titlePadding: 4,
        gridColor: theme.grid,
        domainColor: theme.line,
        tickColor: theme.line,
        tickSize: 3,
        labelPadding: 3,
      },
    },
  };
}

export function curveChart(curve: Curve, bestEpoch: number, onImages: boolean): HTMLElement {
  const lines = curveLines(onImages).filter((line) => curve[line.part]?.length);
  const last = accuracyAt(curve, kTest, curve.epochs.length - 1);
  const canvas = el("div", { class: "canvas" });
  const element = el(
    "div",
    {
      class: "curve",
      role: "img",
      "aria-label": `Accuracy over ${curve.epochs.length} recorded epochs; ${onImages ? "unseen" : "test"} accuracy ends at ${measured(last, "%", 1)}`,
    },
    canvas,
  );
  let view: ChartView | null = null;
  let drawnWidth = 0;

  async function draw(): Promise<void> {
    const width = Math.floor(element.clientWidth);
    if (width < 60) {
      return;
    }
    drawnWidth = width;
    await fontsReady();
    const holder = el("div");
    const next = makeView(curveSpec(curve, lines, bestEpoch, width, look()), holder);
    await next.runAsync();
    view?.finalize();
    view = next;
    canvas.replaceChildren(holder);
  }

  element.addEventListener("pointermove", (event) => {
    const plot = canvas.querySelector(".root path.background")?.getBoundingClientRect();
    const first = curve.epochs[0];
    const end = curve.epochs[curve.epochs.length - 1];
    if (!plot?.width || first === undefined || end === undefined) {
      return;
    }
    const epoch = first + ((event.clientX - plot.x) / plot.width) * (end - first);
    let at = 0;
    curve.epochs.forEach((one, place) => {
      if (Math.abs(one - epoch) < Math.abs((curve.epochs[at] ?? 0) - epoch)) {
        at = place;
      }
    });
    showTooltip(
      event.clientX,
      event.clientY,
      el("div", { class: "point-place" }, `Epoch ${count(curve.epochs[at] ?? 0)}`),
      lines.map((line) => fact(line.name, measured(accuracyAt(curve, line, at), "%"))),
    );
  });
  element.addEventListener("pointerleave", hideTooltip);
  new ResizeObserver(() => {
    if (Math.abs(element.clientWidth - drawnWidth) > 4) {
      void draw();
    }
  }).observe(element);
  onThemeChange(() => {
    if (element.isConnected) {
      void draw();
    }
  });
  return element;
}
