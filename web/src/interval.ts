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

// Checks in one unit are comparable; "no difference" is always in view.
export function commonScale(checks: Check[], unit: string): Scale {
  const at = (value: number): number => (isFactor(unit) ? Math.log(Math.max(value, 1e-12)) : value);
  const ends = checks
    .filter((check) => check.unit === unit)
    .flatMap((check) => [check.estimate, check.low, check.high])
    .filter(isNumber);
  const low = Math.min(0, ...ends.map(at));
  const high = Math.max(0, ...ends.map(at));
  return low === high ? { low: -1, high: 1, at } : { low, high, at };
}

export function intervalPlot(check: Check, scale: Scale): SVGElement | null {
  if (!isNumber(check.estimate)) {
    return null;
  }
  const along = (value: number): number =>
    kMargin + ((value - scale.low) / (scale.high - scale.low)) * (kWidth - 2 * kMargin);
  const place = (value: number): number => along(scale.at(value));
  const middle = kHeight / 2;
  const words =
    isNumber(check.low) && isNumber(check.high)
      ? `${compact(check.estimate)}, interval from ${compact(check.low)} to ${compact(check.high)}`
      : compact(check.estimate);
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
    svg("line", { class: "interval-zero", x1: along(0), x2: along(0), y1: 2, y2: kHeight - 2 }),
    isNumber(check.low) && isNumber(check.high)
      ? svg("line", { class: "interval-range", x1: place(check.low), x2: place(check.high), y1: middle, y2: middle })
      : null,
    svg("circle", { class: "interval-point", cx: place(check.estimate), cy: middle, r: 4 }),
  );
}
