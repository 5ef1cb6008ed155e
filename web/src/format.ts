// Numbers and times as a reader wants them.
import { isNumber } from "./report";

const kMinus = "\u2212";
const kThinSpace = "\u202f";

function withMinus(text: string): string {
  return text.replace(/-/g, kMinus);
}

export function count(value: number): string {
  return withMinus(Math.round(value).toLocaleString("en-US"));
}

// Three or so significant digits, with k, M, G for large numbers.
export function compact(value: number, significant = 3): string {
  const size = Math.abs(value);
  if (size >= 1e15 || (size > 0 && size < 1e-4)) {
    return withMinus(value.toExponential(2));
  }
  for (const [unit, letter] of [
    [1e12, "T"],
    [1e9, "G"],
    [1e6, "M"],
    [1e4, "k"],
  ] as const) {
    if (size >= unit) {
      const scaled = value / (letter === "k" ? 1e3 : unit);
      return withMinus(`${Number(scaled.toPrecision(significant))}${kThinSpace}${letter}`);
    }
  }
  if (size >= 1000) {
    return count(value);
  }
  const digits = size >= 100 ? 1 : size >= 10 ? 2 : 3;
  return withMinus(String(Number(value.toFixed(digits + (size < 0.1 ? 2 : 0)))));
}

// A value of a measure: percent always with the same number of digits, so that columns line up.
export function measured(value: number | null, unit: string, digits = 2): string {
  if (!isNumber(value)) {
    return "–";
  }
  if (unit === "%") {
    return `${withMinus(value.toFixed(digits))}${kThinSpace}%`;
  }
  return unit ? `${compact(value)}${kThinSpace}${unit}` : compact(value);
}

// As `measured`, without the unit: for heat-map cells.
export function bare(value: number | null, unit: string, significant = 3): string {
  if (!isNumber(value)) {
    return "–";
  }
  return unit === "%" ? withMinus(value.toFixed(1)) : compact(value, significant);
}

// A difference; of a factor, which has no sign, the factor.
export function signed(value: number | null, unit: string): string {
  if (!isNumber(value)) {
    return "–";
  }
  if (isFactor(unit)) {
    return `×${kThinSpace}${compact(value)}`;
  }
  const text = unit === "%" || unit === "points" ? withMinus(value.toFixed(2)) : compact(value);
  return value > 0 ? `+${text}` : text;
}

export function isFactor(unit: string): boolean {
  return unit === "×" || unit === "times";
}

export function probability(value: number | null): string {
  if (!isNumber(value)) {
    return "–";
  }
  return value < 0.001 ? "< 0.001" : value.toFixed(3);
}

export function duration(seconds: number): string {
  if (seconds < 1) {
    return `${Math.round(seconds * 1000)}${kThinSpace}ms`;
  }
  if (seconds < 60) {
    return `${Number(seconds.toFixed(1))}${kThinSpace}s`;
  }
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) {
    return `${minutes}${kThinSpace}min ${Math.round(seconds % 60)}${kThinSpace}s`;
  }
  const hours = Math.floor(minutes / 60);
  return `${count(hours)}${kThinSpace}h ${minutes % 60}${kThinSpace}min`;
}

export function plural(number: number, one: string, many = `${one}s`): string {
  return `${count(number)} ${number === 1 ? one : many}`;
}

// Prose as it should be set: no line ends between a number and its percent sign.
export function prose(text: string): string {
  return text.replace(/(\d) %/g, "$1\u00a0%");
}

export function sentence(text: string): string {
  const trimmed = prose(text.trim());
  return trimmed && !/[.!?]$/.test(trimmed) ? `${capital(trimmed)}.` : capital(trimmed);
}

export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

// A name that can stand in a file name or an element's id.
export function slug(text: string): string {
  return (
    text
      .replace(/[^A-Za-z0-9]+/g, "-")
      .replace(/^-+|-+$/g, "")
      .toLowerCase() || "x"
  );
}
