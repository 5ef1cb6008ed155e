// A series as it looks in the charts: a piece of its line, or of its bar, with its point.
import { svg } from "./dom";
import type { Style } from "./palette";
import { inkOn } from "./palette";

export const kPoints: Record<string, string> = {
  circle: "M-3.4,0A3.4,3.4 0 1,1 3.4,0A3.4,3.4 0 1,1 -3.4,0Z",
  square: "M-3,-3H3V3H-3Z",
  diamond: "M0,-4.2L3.2,0L0,4.2L-3.2,0Z",
  "triangle-up": "M0,-3.9L3.9,3H-3.9Z",
  "triangle-down": "M0,3.9L3.9,-3H-3.9Z",
  "triangle-right": "M3.9,0L-3,3.9V-3.9Z",
  "triangle-left": "M-3.9,0L3,3.9V-3.9Z",
  cross: "M-1.2,-3.6H1.2V-1.2H3.6V1.2H1.2V3.6H-1.2V1.2H-3.6V-1.2H-1.2Z",
};

export function inBothThemes(style: { light: string; dark: string }): string {
  return `--light:${style.light};--dark:${style.dark}`;
}

// For `.filled`: a background with what can be read on it.
export function filledInBothThemes(style: { light: string; dark: string }): string {
  return `${inBothThemes(style)};--ink-light:${inkOn(style.light)};--ink-dark:${inkOn(style.dark)}`;
}

// A piece of a line, with what is drawn upon it.
export function lineSwatch(
  style: { light: string; dark: string; dash: number[] },
  width: number,
  ...upon: SVGElement[]
): SVGElement {
  return svg(
    "svg",
    {
      class: "swatch",
      width: 28,
      height: 12,
      viewBox: "-14 -6 28 12",
      style: inBothThemes(style),
      "aria-hidden": "true",
    },
    svg("path", {
      d: "M-14,0H14",
      stroke: "currentColor",
      "stroke-width": width,
      "stroke-dasharray": style.dash.join(" ") || null,
    }),
    ...upon,
  );
}

export function swatch(style: Style, block = false): SVGElement {
  if (block) {
    return svg(
      "svg",
      {
        class: "swatch",
        width: 12,
        height: 12,
        viewBox: "0 0 12 12",
        style: inBothThemes(style),
        "aria-hidden": "true",
      },
      svg("rect", { width: 12, height: 12, rx: 2, fill: "currentColor" }),
      svg("path", {
        class: "swatch-point",
        d: kPoints[style.shape] ?? kPoints.circle,
        transform: "translate(6 6) scale(0.9)",
      }),
    );
  }
  return lineSwatch(style, 2, svg("path", { d: kPoints[style.shape] ?? kPoints.circle, fill: "currentColor" }));
}
