// The chart of a pruning: accuracy and edges of every attempt.
import { svg } from "./dom";
import { count, plural } from "./format";
import type { PruneStep } from "./report";

// Beside the attempts.
export const kLeft = 58;
export const kRight = 12;
const kTop = 20;
const kAccuracy = 46; // heights
const kGap = 16;
const kEdges = 84;
const kBottom = 20;

const kStages: Record<PruneStep["stage"], string> = {
  dense: "dense",
  units: "units",
  retrain: "retraining",
  edges: "edges",
};

type Scale = (value: number) => number;

export interface AttemptChart {
  element: SVGElement;
  point: (at: number) => void; // to an attempt
}

// 1, 2 and 5 times powers of ten that lie between.
function logTicks(low: number, high: number): number[] {
  const ticks: number[] = [];
  for (let power = 1; power <= high; power *= 10) {
    ticks.push(...[1, 2, 5].map((step) => step * power).filter((tick) => tick >= low && tick <= high));
  }
  const sparse = ticks.filter((tick) => /^[15]/.test(String(tick)));
  return ticks.length > 5 && sparse.length > 1 ? sparse : ticks;
}

function logScale(low: number, high: number, top: number, height: number): Scale {
  const [first, span] = [Math.log(Math.max(low, 1)), Math.log(Math.max(high, 1)) - Math.log(Math.max(low, 1)) || 1];
  return (value) => top + height * (1 - (Math.log(Math.max(value, 1)) - first) / span);
}

function stageBands(history: PruneStep[], x: Scale, half: number, height: number): SVGElement[] {
  const bands: { stage: PruneStep["stage"]; from: number; to: number }[] = [];
  history.forEach((step, at) => {
    const before = bands[bands.length - 1];
    if (before?.stage === step.stage) {
      before.to = at;
    } else {
      bands.push({ stage: step.stage, from: at, to: at });
    }
  });
  return bands.flatMap(({ stage, from, to }) => {
    const [left, right] = [x(from) - half, x(to) + half];
    const name = kStages[stage];
    const shaded = stage === "units" || stage === "edges";
    const width = right - left;
    const style = shaded ? "stage stage-shaded" : "stage";
    const hasRoom = width > name.length * 6.2;
    return [
      svg("rect", { class: style, x: left, y: kTop, width, height }, svg("title", {}, name)),
      ...(hasRoom ? [svg("text", { class: "stage-name", x: left + width / 2, y: kTop - 6 }, name)] : []),
    ];
  });
}

export function attemptMark(accepted: boolean, x: number, y: number, radius: number): SVGElement {
  const [left, down] = [x.toFixed(1), y.toFixed(1)];
  const arm = radius + 0.6;
  return accepted
    ? svg("circle", { class: "attempt-accepted", cx: left, cy: down, r: radius })
    : svg("path", {
        class: "attempt-rejected",
        d: `M${left},${down}m${-arm},${-arm}l${2 * arm},${2 * arm}m0,${-2 * arm}l${-2 * arm},${2 * arm}`,
      });
}

// From one accepted attempt to the next.
function stairs(history: PruneStep[], x: Scale, y: (step: PruneStep) => number): string {
  return history
    .flatMap((step, at) => (step.accepted ? [{ step, at }] : []))
    .map(({ step, at }, place) => `${place ? "H" : "M"}${x(at).toFixed(1)}${place ? "V" : ","}${y(step).toFixed(1)}`)
    .join("")
    .concat(`H${x(history.length - 1).toFixed(1)}`);
}

export function attemptChart(history: PruneStep[], width: number): AttemptChart {
  const end = history.length - 1;
  const room = width - kLeft - kRight;
  const x: Scale = (at) => kLeft + (end ? (at / end) * room : room / 2);
  const half = Math.min(end ? room / end / 2 : room / 2, 12);
  const height = kAccuracy + kGap + kEdges;
  const least = Math.min(...history.map((step) => step.accuracy), 100);
  const lowest = Math.max(0, Math.min(90, Math.floor(least / 10) * 10));
  const right: Scale = (value) => kTop + 4 + (kAccuracy - 4) * (1 - (value - lowest) / (100 - lowest));
  const all = history.map((step) => step.edges);
  const [fewest, most] = [Math.min(...all), Math.max(...all)];
  const edges = logScale(fewest * 0.9, most * 1.05, kTop + kAccuracy + kGap, kEdges);
  const radius = Math.min(3, Math.max(1.7, room / (history.length * 4)));
  const tick = (y: number, name: string): SVGElement[] => [
    svg("line", { class: "attempt-grid", x1: kLeft - 6, x2: width - kRight + 4, y1: y, y2: y }),
    svg("text", { class: "attempt-tick", x: kLeft - 10, y: y + 3.5 }, name),
  ];
  const axisName = (name: string, y: number): SVGElement =>
    svg("text", { class: "attempt-axis", transform: `translate(8 ${y}) rotate(-90)` }, name);
  const cursor = svg("line", { class: "attempt-cursor", y1: kTop, y2: kTop + height });
  const accepted = history.filter((step) => step.accepted);
  const summary =
    `${plural(history.length, "attempt")} to prune, ${count(accepted.length)} accepted: ` +
    `from ${count(accepted[0]?.edges ?? 0)} edges to ${count(accepted[accepted.length - 1]?.edges ?? 0)}`;
  const steps = [0, Math.round(end / 2), end].filter((at, place, list) => list.indexOf(at) === place);
  const element = svg(
    "svg",
    {
      width,
      height: kTop + height + kBottom,
      viewBox: `0 0 ${width} ${kTop + height + kBottom}`,
      role: "img",
      "aria-label": summary,
    },
    stageBands(history, x, half, height),
    [lowest, 100].map((value) => tick(right(value), `${value}${value === 100 ? "\u202f%" : ""}`)),
    logTicks(fewest, most).map((value) => tick(edges(value), count(value))),
    axisName("accuracy", kTop + kAccuracy / 2),
    svg("path", { class: "attempt-line", d: stairs(history, x, (step) => edges(step.edges)) }),
    axisName("edges (log)", kTop + kAccuracy + kGap + kEdges / 2),
    cursor,
    history.map((step, at) => attemptMark(step.accepted, x(at), right(step.accuracy), radius)),
    history.map((step, at) => attemptMark(step.accepted, x(at), edges(step.edges), radius)),
    steps.map((at) => svg("text", { class: "attempt-step", x: x(at), y: kTop + height + 14 }, at)),
  );
  return { element, point: (at) => cursor.setAttribute("transform", `translate(${x(at).toFixed(1)} 0)`) };
}
