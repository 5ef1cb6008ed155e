// Loss and collapse of one network over the iterations, with a mark at the one that is looked at.
import { el, svg } from "./dom";
import { compact, count, measured } from "./format";
import type { Moment, ShownMixture } from "./mixture_details";
import { momentAt } from "./mixture_details";
import { isNumber } from "./report";

const kLeft = 34;
const kRight = 8;
const kTop = 16;
const kHeight = 52; // of a panel
const kGap = 24;
const kBottom = 16;
const kLeastLoss = 1e-6; // of the largest one; what is below lies on the ground

type Scale = (value: number) => number;

// What all networks of a cell share, so that their curves can be compared.
export interface CurveScales {
  last: number; // iteration
  low: number; // loss
  high: number;
}

export interface MixtureCurve {
  element: HTMLElement;
  point: (iteration: number) => void;
}

export function curveScales(networks: ShownMixture[]): CurveScales {
  const moments = networks.flatMap((network) => network.moments);
  const losses = moments.map((moment) => moment.loss).filter((loss): loss is number => isNumber(loss) && loss > 0);
  const high = losses.reduce((most, loss) => Math.max(most, loss), 0) || 1;
  const low = losses.reduce((least, loss) => Math.min(least, loss), high);
  return {
    last: moments.reduce((last, moment) => Math.max(last, moment.iteration), 0),
    low: Math.max(Math.min(low, high / 2), high * kLeastLoss),
    high,
  };
}

// Powers of ten, or with fewer than two of them 1, 2 and 5 times these.
function lossTicks({ low, high }: CurveScales): number[] {
  const first = Math.floor(Math.log10(low));
  const powers = Array.from({ length: Math.ceil(Math.log10(high)) - first + 1 }, (_, at) => 10 ** (first + at));
  const within = (ticks: number[]): number[] => ticks.filter((tick) => tick >= low && tick <= high);
  const tens = within(powers);
  const ticks = tens.length > 1 ? tens : within(powers.flatMap((power) => [power, 2 * power, 5 * power]));
  return ticks.length > 4 ? ticks.filter((_, at) => at % Math.ceil(ticks.length / 4) === 0) : ticks;
}

// A gap where nothing is known.
function line(moments: Moment[], x: Scale, y: Scale, value: (moment: Moment) => number | null): string {
  let pen = "M";
  return moments
    .map((moment) => {
      const here = value(moment);
      const step = isNumber(here) ? `${pen}${x(moment.iteration).toFixed(1)},${y(here).toFixed(1)}` : "";
      pen = isNumber(here) ? "L" : "M";
      return step;
    })
    .join("");
}

interface Panel {
  name: string;
  style: string;
  value: (moment: Moment) => number | null;
  y: Scale;
  ticks: number[];
}

function panelsOf(network: ShownMixture, scales: CurveScales): Panel[] {
  const span = Math.log(scales.high / scales.low);
  const share: Scale = (loss) => Math.min(Math.max(Math.log(Math.max(loss, scales.low) / scales.low) / span, 0), 1);
  const loss: Panel = {
    name: "loss (log)",
    style: "curve-loss",
    value: (moment) => moment.loss,
    y: (value) => kTop + kHeight * (1 - share(value)),
    ticks: lossTicks(scales),
  };
  const collapse: Panel = {
    name: "collapse, average",
    style: "curve-collapse",
    value: (moment) => moment.use.collapse_avg,
    y: (value) => kTop + kHeight + kGap + kHeight * (1 - value),
    ticks: [0, 1],
  };
  return network.modules ? [loss, collapse] : [loss];
}

// `choose` is told the iteration at which somebody points.
export function mixtureCurve(
  network: ShownMixture,
  scales: CurveScales,
  choose: (iteration: number) => void,
): MixtureCurve {
  const panels = panelsOf(network, scales);
  const bottom = kTop + panels.length * kHeight + (panels.length - 1) * kGap;
  const element = el("div", { class: "mixture-curve" });
  let chosen = scales.last;
  let drawnWidth = 0;
  let cursor: SVGElement | null = null;
  let marks: SVGElement[] = [];
  const room = (): number => Math.max(drawnWidth - kLeft - kRight, 1);
  const x: Scale = (iteration) => kLeft + (iteration / (scales.last || 1)) * room();

  function point(iteration: number): void {
    chosen = iteration;
    const moment = momentAt(network, iteration);
    cursor?.setAttribute("transform", `translate(${x(iteration).toFixed(1)} 0)`);
    panels.forEach((panel, at) => {
      const value = panel.value(moment);
      const mark = marks[at];
      mark?.setAttribute("visibility", isNumber(value) ? "visible" : "hidden");
      if (isNumber(value)) {
        mark?.setAttribute("transform", `translate(${x(moment.iteration).toFixed(1)} ${panel.y(value).toFixed(1)})`);
      }
    });
  }

  function draw(): void {
    const width = Math.floor(element.clientWidth);
    if (width < 80) {
      return;
    }
    drawnWidth = width;
    cursor = svg("line", { class: "attempt-cursor", y1: kTop - 4, y2: bottom });
    marks = panels.map((panel) => svg("circle", { class: `${panel.style} curve-mark`, r: 3.4 }));
    const end = network.moments[network.moments.length - 1];
    const drawing = svg(
      "svg",
      {
        width,
        height: bottom + kBottom,
        viewBox: `0 0 ${width} ${bottom + kBottom}`,
        role: "img",
        "aria-label":
          `Loss over ${count(scales.last)} iterations, in the end ${measured(end?.loss ?? null, "")}` +
          (network.modules ? `; collapse in the end ${measured(end?.use.collapse_avg ?? null, "")}` : ""),
      },
      panels.map((panel, at) => {
        const top = kTop + at * (kHeight + kGap);
        return [
          svg("text", { class: "curve-name", x: kLeft, y: top - 5 }, panel.name),
          panel.ticks.map((tick) => [
            svg("line", { class: "attempt-grid", x1: kLeft, x2: width - kRight, y1: panel.y(tick), y2: panel.y(tick) }),
            svg("text", { class: "curve-tick", x: kLeft - 5, y: panel.y(tick) + 3.5 }, compact(tick)),
          ]),
          svg("path", { class: `${panel.style} curve-line`, d: line(network.moments, x, panel.y, panel.value) }),
        ];
      }),
      cursor,
      marks,
      svg("text", { class: "curve-first", x: kLeft, y: bottom + 12 }, 0),
      svg("text", { class: "curve-tick", x: width - kRight, y: bottom + 12 }, `${compact(scales.last)} iterations`),
    );
    element.replaceChildren(drawing);
    point(chosen);
  }

  const pointed = (event: PointerEvent): void => {
    const left = event.clientX - element.getBoundingClientRect().x - kLeft;
    choose(Math.min(Math.max(left / room(), 0), 1) * scales.last);
  };
  element.addEventListener("pointerdown", pointed);
  element.addEventListener("pointermove", (event) => {
    if (event.buttons) {
      pointed(event);
    }
  });
  new ResizeObserver(() => {
    if (Math.abs(element.clientWidth - drawnWidth) > 2) {
      draw();
    }
  }).observe(element);
  return { element, point };
}
