// An estimate with its interval on a common scale, small enough for a table.
import { svg } from "./dom";
import { compact, isFactor } from "./format";
import type { Check } from "./report";
import { isNumber } from "./report";
import { verdictClass } from "./verdict";

const kWidth = 190;
const kHeight = 22;
const kMargin = 8;

export interface Scale {
  low: number;
  high: number;
  at: (value: number) => number; // factors are spread by their logarithms
}

// Checks in one unit are comparable. What is expected is always in view.
export function commonScale(checks: Check[], unit: string): Scale {
  const at = (value: number): number => (isFactor(unit) ? Math.log(Math.max(value, 1e-12)) : value);
  const ends = checks
    .filter((check) => check.unit === unit)
    .flatMap((check) => [check.general?.estimate, check.general?.low, check.general?.high, check.expected_low, check.expected_high])
    .filter(isNumber);
  const low = Math.min(...ends.map(at));
  const high = Math.max(...ends.map(at));
  return !(low < high) ? { low: -1, high: 1, at } : { low, high, at };
}

// A mark where what is expected begins, pointing to where it lies.
function threshold(at: number, side: 1 | -1, words: string): SVGElement {
  const tip = 5 * side;
  return svg(
    "g",
    { class: "interval-threshold" },
    svg("title", {}, words),
    svg("line", { x1: at, x2: at, y1: 2, y2: kHeight - 2 }),
    svg("path", { d: `M${at},1h${tip}M${at},${kHeight - 1}h${tip}` }),
  );
}

export function intervalPlot(check: Check, scale: Scale): SVGElement | null {
  const judgement = check.general;
  if (!judgement || !isNumber(judgement.estimate)) {
    return null;
  }
  const along = (value: number): number =>
    kMargin + ((value - scale.low) / (scale.high - scale.low)) * (kWidth - 2 * kMargin);
  const place = (value: number): number => along(scale.at(value));
  const middle = kHeight / 2;
  const hasEnds = isNumber(judgement.low) && isNumber(judgement.high);
  const words = `${compact(judgement.estimate)}, ${
    hasEnds ? `interval from ${compact(judgement.low!)} to ${compact(judgement.high!)}` : "no interval"
  }; expected ${check.expectation}`;
  const { expected_low: from, expected_high: to } = check;
  return svg(
    "svg",
    {
      class: `interval ${verdictClass(check.verdict)}`,
      width: kWidth,
      height: kHeight,
      viewBox: `0 0 ${kWidth} ${kHeight}`,
      role: "img",
      "aria-label": words,
    },
    svg("line", { class: "interval-axis", x1: kMargin, x2: kWidth - kMargin, y1: middle, y2: middle }),
    isNumber(from) ? threshold(place(from), 1, `expected: ${check.expectation}`) : null,
    isNumber(to) ? threshold(place(to), -1, `expected: ${check.expectation}`) : null,
    hasEnds
      ? svg("line", {
          class: "interval-range",
          x1: place(judgement.low!),
          x2: place(judgement.high!),
          y1: middle,
          y2: middle,
        })
      : null,
    svg("circle", { class: "interval-point", cx: place(judgement.estimate), cy: middle, r: 4 }),
  );
}
