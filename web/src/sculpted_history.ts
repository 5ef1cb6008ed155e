// How a network was pruned: every attempt, and a slider that goes through them.
import type { AttemptChart } from "./attempt_chart";
import { attemptChart, attemptMark, kLeft, kRight } from "./attempt_chart";
import { clear, el, svg } from "./dom";
import { count, measured, plural } from "./format";
import type { PruneStep } from "./report";

const kThumb = 16;

function stepWords(history: PruneStep[], at: number, isResult: boolean): string {
  const step = history[at];
  if (!step) {
    return "";
  }
  const right = measured(step.accuracy, "%", 1);
  const left = `${plural(step.units, "hidden unit")}, ${plural(step.edges, "edge")}, ${right} right`;
  if (step.stage === "dense") {
    return `Before pruning: ${left}`;
  }
  const asked = `${measured(step.percent, "%", 1)} of ${step.stage} to go`;
  const what = step.stage === "retrain" ? "trained once more" : asked;
  const verdict = step.accepted ? (isResult ? "the result" : "accepted") : "rejected, the network before it stays";
  return `Step ${count(at)} of ${count(history.length - 1)}, ${what}: ${left}; ${verdict}`;
}

// `show` is told which of the accepted networks there is at the chosen attempt.
export function sculptedHistory(history: PruneStep[], show: (network: number) => void): HTMLElement {
  const end = history.length - 1;
  const result = history.reduce((last, step, at) => (step.accepted ? at : last), 0); // where the last network is
  const networkAt = (at: number): number => history.slice(0, at + 1).filter((step) => step.accepted).length - 1;
  const chart = el("div", { class: "attempts" });
  const words = el("p", { class: "attempt-words", "aria-live": "polite" });
  const slider = el("input", {
    type: "range",
    min: 0,
    max: end,
    step: 1,
    value: result,
    "aria-label": "Step of the pruning",
  });
  let drawn: AttemptChart | null = null;
  let drawnWidth = 0;
  let shown = -1;

  function look(at: number): void {
    drawn?.point(at);
    if (at !== shown) {
      shown = at;
      const text = stepWords(history, at, at === result);
      clear(words, text);
      slider.setAttribute("aria-valuetext", text);
      show(networkAt(at));
    }
  }

  function draw(): void {
    const width = Math.floor(chart.clientWidth);
    if (width < 80) {
      return;
    }
    drawnWidth = width;
    drawn = attemptChart(history, width);
    chart.replaceChildren(drawn.element);
    slider.style.marginLeft = `${kLeft - kThumb / 2}px`;
    slider.style.width = `${width - kLeft - kRight + kThumb}px`;
    look(shown < 0 ? result : shown);
  }

  const attemptAt = (event: PointerEvent): number => {
    const left = event.clientX - chart.getBoundingClientRect().x - kLeft;
    return Math.min(Math.max(Math.round((left / Math.max(drawnWidth - kLeft - kRight, 1)) * end), 0), end);
  };
  chart.addEventListener("pointermove", (event) => look(attemptAt(event)));
  chart.addEventListener("pointerleave", () => look(Number(slider.value)));
  chart.addEventListener("pointerdown", (event) => {
    slider.value = String(attemptAt(event));
    look(attemptAt(event));
  });
  slider.addEventListener("input", () => look(Number(slider.value)));
  new ResizeObserver(() => {
    if (Math.abs(chart.clientWidth - drawnWidth) > 2) {
      draw();
    }
  }).observe(chart);
  return el("div", { class: "pruning" }, chart, slider, words);
}

export function historyKey(): HTMLElement[] {
  const sample = (accepted: boolean): SVGElement =>
    svg("svg", { width: 12, height: 12, viewBox: "-6 -6 12 12", "aria-hidden": "true" }, attemptMark(accepted, 0, 0, 3));
  return [
    el("span", {}, sample(true), "accepted attempt"),
    el("span", {}, sample(false), "rejected attempt"),
    el("span", {}, "Point at an attempt or move the slider to see the network then."),
  ];
}
