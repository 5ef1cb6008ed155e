// Masks on everything with weaker and stronger penalties: what they keep, what the network still does, and how much of
// them is undecided.
import { el, svg } from "./dom";
import { compact, measured } from "./format";
import type { ShownMasked } from "./mask_details";
import type { BetaPoint } from "./report";
import { isNumber } from "./report";
import type { Style } from "./palette";
import { swatch, inBothThemes, kPoints } from "./swatch";
import { fact, hideTooltip, showTooltip } from "./tooltip";

const kWidth = 330;
const kHeight = 96;
const kLeft = 30;
const kRight = 10;
const kTop = 8;
const kBottom = 20;

const kLines: { of: (point: BetaPoint) => number; name: string; style: Style }[] = [
  {
    of: (point) => point.accuracy,
    name: "accuracy",
    style: { light: "#0b5c8a", dark: "#7cc4f2", dash: [], shape: "circle" },
  },
  {
    of: (point) => point.kept,
    name: "kept weights",
    style: { light: "#c48200", dark: "#f3b83f", dash: [6, 3], shape: "square" },
  },
  {
    of: (point) => point.ambiguous,
    name: "undecided",
    style: { light: "#80848b", dark: "#8b9098", dash: [1.5, 2.5], shape: "triangle-up" },
  },
];

// Nothing where beta was given: of one point there is no curve.
export function betaCurve(network: ShownMasked): HTMLElement | null {
  const { betas, beta } = network;
  if (betas.length < 2) {
    return null;
  }
  const [low, high] = [Math.log10(betas[0]!.beta), Math.log10(betas[betas.length - 1]!.beta)];
  const x = (value: number): number =>
    kLeft + ((Math.log10(value) - low) / (high - low || 1)) * (kWidth - kLeft - kRight);
  const y = (percent: number): number => kTop + (1 - percent / 100) * kHeight;
  const bottom = kTop + kHeight;
  const decades = Array.from(
    { length: Math.floor(high + 1e-9) - Math.ceil(low - 1e-9) + 1 },
    (_, at) => Math.ceil(low - 1e-9) + at,
  );
  const every = Math.max(1, Math.ceil(decades.length / 5));
  const isChosen = isNumber(beta) && beta >= betas[0]!.beta && beta <= betas[betas.length - 1]!.beta;
  const drawing = svg(
    "svg",
    {
      viewBox: `0 0 ${kWidth} ${bottom + kBottom}`,
      role: "img",
      "aria-label": `Masks on everything with ${betas.length} weights of the penalty, of which ${isNumber(beta) ? compact(beta) : "none"} was chosen`,
    },
    [0, 50, 100].map((tick) => [
      svg("line", { class: "attempt-grid", x1: kLeft, x2: kWidth - kRight, y1: y(tick), y2: y(tick) }),
      svg("text", { class: "beta-tick", x: kLeft - 5, y: y(tick) + 3.5 }, tick),
    ]),
    decades
      .filter((_, at) => at % every === 0)
      .map((decade) => svg("text", { class: "beta-decade", x: x(10 ** decade), y: bottom + 14 }, `1e${decade}`)),
    isChosen ? svg("line", { class: "beta-chosen", x1: x(beta), x2: x(beta), y1: kTop, y2: bottom }) : null,
    kLines.map(({ of, style }) => [
      svg("path", {
        class: "beta-line",
        style: inBothThemes(style),
        d: betas.map((point, at) => `${at ? "L" : "M"}${x(point.beta).toFixed(1)},${y(of(point)).toFixed(1)}`).join(""),
        "stroke-dasharray": style.dash.join(" ") || null,
      }),
      betas.map((point) =>
        svg("path", {
          class: "beta-point",
          style: inBothThemes(style),
          d: kPoints[style.shape] ?? "",
          transform: `translate(${x(point.beta).toFixed(1)} ${y(of(point)).toFixed(1)}) scale(0.8)`,
        }),
      ),
    ]),
  );
  const element = el(
    "figure",
    { class: "beta-curve" },
    el("p", { class: "mask-part" }, "the control mask by beta, in percent"),
    drawing,
    el(
      "figcaption",
      {},
      kLines.map(({ name, style }) => el("span", {}, swatch(style), name)),
      isChosen ? el("span", {}, `upright: chosen, ${compact(beta)}`) : null,
    ),
  );
  drawing.addEventListener("pointermove", (event) => {
    const box = drawing.getBoundingClientRect();
    const at = ((event.clientX - box.x) / box.width) * kWidth;
    const nearest = betas.reduce((best, point) =>
      Math.abs(x(point.beta) - at) < Math.abs(x(best.beta) - at) ? point : best,
    );
    showTooltip(
      event.clientX,
      event.clientY,
      el("div", { class: "point-place" }, `beta ${compact(nearest.beta)}`),
      kLines.map(({ of, name }) => fact(name, measured(of(nearest), "%", 1))),
    );
  });
  drawing.addEventListener("pointerleave", hideTooltip);
  return element;
}
