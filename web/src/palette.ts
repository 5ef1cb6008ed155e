// One look for each architecture, the same in every chart. Networks without modules are drawn in ink and greys; a warm
// pair stands for modules with weights of their own, a cool pair for shared ones. The hues are those of Okabe and Ito,
// shifted until lines reach a contrast of three to one on either background.
import type { Report } from "./report";

export interface Style {
  light: string;
  dark: string;
  dash: number[];
  shape: string;
}

interface Architecture {
  name: string;
  light: string;
  dark: string;
  shape: string;
}

const kDense: Architecture = { name: "dense", light: "#23262b", dark: "#f0eee9", shape: "circle" };

const kArchitectures: Architecture[] = [
  kDense,
  { ...kDense, name: "mlp" },
  { ...kDense, name: "monolithic" },
  { name: "modular", light: "#d55e00", dark: "#f4813a", shape: "square" },
  { name: "modular-fc", light: "#c48200", dark: "#f3b83f", shape: "diamond" },
  { name: "modular-shared", light: "#0072b2", dark: "#4ea8ea", shape: "triangle-up" },
  { name: "modular-shared-fcms", light: "#009070", dark: "#35c89d", shape: "triangle-down" },
  // Mixtures: told the rule, and gated by it alone.
  { name: "gt-modular", light: "#0072b2", dark: "#4ea8ea", shape: "triangle-up" },
  { name: "modular-op", light: "#009070", dark: "#35c89d", shape: "triangle-down" },
  // Contests that nobody won.
  { name: "tie", light: "#80848b", dark: "#8b9098", shape: "cross" },
];

const kSparse = { sparsest: { light: "#9a9ea5", dark: "#7d828a" }, densest: { light: "#50555d", dark: "#c3c7cd" } };

const kSpare: Architecture[] = [
  { name: "", light: "#b0568a", dark: "#e08fbb", shape: "circle" },
  { name: "", light: "#3d8fb5", dark: "#7fd0f0", shape: "square" },
  { name: "", light: "#857b00", dark: "#e5dc55", shape: "diamond" },
  { name: "", light: "#7a4fa3", dark: "#b996e0", shape: "triangle-up" },
  { name: "", light: "#8a5a3c", dark: "#c99b7c", shape: "triangle-down" },
];

const kDashes: number[][] = [[], [7, 3], [2, 2.5], [8, 3, 2, 3], [4, 2]];
const kShapes = [
  "circle",
  "square",
  "diamond",
  "triangle-up",
  "triangle-down",
  "triangle-right",
  "triangle-left",
  "cross",
];

function channels(colour: string): [number, number, number] {
  const value = Number.parseInt(colour.slice(1), 16);
  return [(value >> 16) & 255, (value >> 8) & 255, value & 255];
}

export function mix(from: string, to: string, share: number): string {
  const end = channels(to);
  const mixed = channels(from).map((channel, at) => Math.round(channel + ((end[at] ?? 0) - channel) * share));
  return "#" + mixed.map((channel) => channel.toString(16).padStart(2, "0")).join("");
}

// Relative luminance as WCAG defines it.
export function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = channels(colour).map((channel) => {
    const share = channel / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

export function contrast(one: string, other: string): number {
  const [low = 0, high = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

// "modular, top-k" is a variant of modular; "3,2" is no architecture at all.
function architectureOf(series: string): string | null {
  const name = (series.split(",")[0] ?? "").trim();
  return /^sparse\b/.test(name) || kArchitectures.some((architecture) => architecture.name === name) ? name : null;
}

function sparseStyle(series: string): Style {
  const density = /(\d+(?:\.\d+)?)\s*%/.exec(series);
  if (!density) {
    return {
      light: mix(kSparse.sparsest.light, kSparse.densest.light, 0.5),
      dark: mix(kSparse.sparsest.dark, kSparse.densest.dark, 0.5),
      dash: [8, 3, 2, 3],
      shape: "cross",
    };
  }
  const percent = Math.min(Math.max(Number(density[1]), 5), 75);
  const share = Math.log(percent / 5) / Math.log(75 / 5);
  return {
    light: mix(kSparse.sparsest.light, kSparse.densest.light, share),
    dark: mix(kSparse.sparsest.dark, kSparse.densest.dark, share),
    dash: percent >= 40 ? [7, 3] : percent >= 20 ? [4, 3] : [1.5, 2.5],
    shape: "circle",
  };
}

// Variants of one architecture share its hue and differ in shade, dash and point.
function variantStyle(base: Architecture, at: number, of: number): Style {
  if (of <= 1) {
    return { light: base.light, dark: base.dark, dash: [], shape: base.shape };
  }
  const position = 1 - (at / (of - 1)) * 2; // from 1, strong, to -1, pale
  const first = kShapes.indexOf(base.shape);
  return {
    light: position < 0 ? mix(base.light, "#ffffff", -position * 0.3) : mix(base.light, "#000000", position * 0.5),
    dark: position < 0 ? mix(base.dark, "#000000", -position * 0.35) : mix(base.dark, "#ffffff", position * 0.55),
    dash: kDashes[at % kDashes.length] ?? [],
    shape: kShapes[(first + at) % kShapes.length] ?? "circle",
  };
}

// Every series of the report with its family: its architecture, or, for series that are something else (pool sizes,
// numbers of modules), the axis they lie on.
function familiesOf(report: Report): Map<string, string[]> {
  const families = new Map<string, string[]>();
  const seen = new Set<string>();
  const add = (name: string, axis: string): void => {
    if (!seen.has(name)) {
      seen.add(name);
      const family = architectureOf(name) ?? `axis ${axis}`;
      families.set(family, [...(families.get(family) ?? []), name]);
    }
  };
  report.overview.series.forEach((series) => add(series.name, "series"));
  for (const figure of report.figures) {
    const axis = figure.series?.name ?? "series";
    (figure.series?.order ?? []).forEach((name) => add(String(name), axis));
    figure.rows.forEach((row) => row.series && add(row.series, axis));
  }
  [...report.gallery, ...report.chosen].forEach((row) => add(row.series, "series"));
  return families;
}

// No two series with the same point, as long as there are points; then none with the same point and dash. Architectures
// keep their own.
function toldApartWithoutColour(styles: Map<string, Style>): Map<string, Style> {
  const isPlain = (name: string): boolean => kArchitectures.some((architecture) => architecture.name === name);
  const names = [...styles.keys()].sort((one, other) => Number(isPlain(other)) - Number(isPlain(one)));
  const shapes = new Set<string>();
  const looks = new Set<string>();
  const lookOf = (style: Style): string => `${style.shape} ${style.dash.join(" ")}`;
  const apart = new Map<string, Style>();
  for (const name of names) {
    let style = styles.get(name)!;
    if (shapes.has(style.shape)) {
      const free = kShapes.find((shape) => !shapes.has(shape));
      const others = kShapes.flatMap((shape) => kDashes.map((dash) => ({ ...style, shape, dash })));
      style = free
        ? { ...style, shape: free }
        : looks.has(lookOf(style))
          ? (others.find((other) => !looks.has(lookOf(other))) ?? style)
          : style;
    }
    shapes.add(style.shape);
    looks.add(lookOf(style));
    apart.set(name, style);
  }
  return apart;
}

export type Palette = (series: string) => Style;

export function makePalette(report: Report): Palette {
  const styles = new Map<string, Style>();
  let spare = 0;
  for (const [family, members] of familiesOf(report)) {
    const known = kArchitectures.find((architecture) => architecture.name === family);
    if (/^sparse\b/.test(family)) {
      members.forEach((name) => styles.set(name, sparseStyle(name)));
    } else if (known || family !== "axis series") {
      const base = known ?? kSpare[spare++ % kSpare.length] ?? kDense;
      // The plain architecture keeps the plain look; its variants are spread around it.
      const plain = members.includes(family);
      const variants = members.filter((name) => name !== family);
      const steps = plain && variants.length < 3 ? variants.length + 1 : variants.length;
      variants.forEach((name, at) => {
        const style = variantStyle(base, at, steps);
        styles.set(name, plain && !style.dash.length ? { ...style, dash: [4, 2] } : style);
      });
      if (plain) {
        styles.set(family, variantStyle(base, 0, 1));
      }
    } else {
      // Names that mean nothing to us get a hue each.
      members.forEach((name) => styles.set(name, variantStyle(kSpare[spare++ % kSpare.length] ?? kDense, 0, 1)));
    }
  }
  const apart = toldApartWithoutColour(styles);
  return (series) => apart.get(series) ?? variantStyle(kDense, 0, 1);
}

export interface Look {
  dark: boolean;
  font: string;
  ink: string;
  muted: string;
  grid: string;
  line: string; // axes, base rates
  background: string | null; // of the chart; null lets the page's through
  paper: string; // what is behind the chart
  empty: string; // behind a heat map's missing cells
  ramp: string[]; // sequential, from low to high
  diverging: string[]; // from low over the middle to high
}

const kPageFont = "Inter Variable, Inter, system-ui, sans-serif";
const kFileFont = "Helvetica, Arial, Liberation Sans, DejaVu Sans, sans-serif";

// Monotone in lightness, blue to yellow, so that it survives every kind of colour blindness and a photocopy.
const kRamp = ["#f7f4e3", "#dfe8d0", "#b4d8c6", "#7ec0c0", "#4a9fb8", "#2a78a8", "#1d518c", "#172c62"];
const kRampOnDark = ["#1c2440", "#23406e", "#28628e", "#37869c", "#5aa9a2", "#8fc7a3", "#c8dfa9", "#f6f0bd"];

// Orange and blue are told apart by all; what is near the middle is near the paper.
const kDiverging = ["#b34a00", "#dc8442", "#f2c39b", "#f7f4ee", "#a9cbe4", "#5596c6", "#1b5c94"];
const kDivergingOnDark = ["#ff9d57", "#c06a2c", "#6f4427", "#2a2d33", "#28506f", "#3a86bd", "#7cc4f2"];

export const kLightLook: Look = {
  dark: false,
  font: kPageFont,
  ink: "#1d2025",
  muted: "#5b616a",
  grid: "#e9e6df",
  line: "#b9b5ab",
  background: null,
  paper: "#fdfcf9",
  empty: "#f1eee7",
  ramp: kRamp,
  diverging: kDiverging,
};

export const kDarkLook: Look = {
  dark: true,
  font: kPageFont,
  ink: "#e9e7e2",
  muted: "#a0a5ad",
  grid: "#2b2f36",
  line: "#565c66",
  background: null,
  paper: "#14161a",
  empty: "#20242a",
  ramp: kRampOnDark,
  diverging: kDivergingOnDark,
};

// For files: black on white, in a font that papers and slides have.
export const kFileLook: Look = {
  dark: false,
  font: kFileFont,
  ink: "#000000",
  muted: "#333333",
  grid: "#e6e6e6",
  line: "#8c8c8c",
  background: "#ffffff",
  paper: "#ffffff",
  empty: "#f2f2f2",
  ramp: kRamp,
  diverging: kDiverging,
};

export function colourOf(style: Style, look: Look): string {
  return look.dark ? style.dark : style.light;
}

function between(colours: string[], share: number): string {
  const place = Math.min(Math.max(share, 0), 1) * (colours.length - 1);
  const before = Math.min(Math.floor(place), colours.length - 2);
  return mix(colours[before] ?? "#000000", colours[before + 1] ?? "#000000", place - before);
}

// The ramp's colour at a share between 0 and 1.
export function rampColour(look: Look, share: number): string {
  return between(look.ramp, share);
}

export function divergingColour(look: Look, share: number): string {
  return between(look.diverging, share);
}

// A colour of either theme, for what CSS paints.
export function inBothLooks(colour: (look: Look) => string): { light: string; dark: string } {
  return { light: colour(kLightLook), dark: colour(kDarkLook) };
}

// White or black: only these two reach a contrast of 4.5 on every background.
export function inkOn(background: string): string {
  return contrast(background, "#ffffff") > contrast(background, "#000000") ? "#ffffff" : "#000000";
}

// Pool members in the gallery. Each is also numbered, since eight hues are more than anyone tells apart.
export const kPool: { light: string; dark: string }[] = [
  { light: "#0072b2", dark: "#4ea8ea" },
  { light: "#c48200", dark: "#f3b83f" },
  { light: "#009070", dark: "#35c89d" },
  { light: "#b0568a", dark: "#e08fbb" },
  { light: "#d55e00", dark: "#f4813a" },
  { light: "#7a4fa3", dark: "#b996e0" },
  { light: "#857b00", dark: "#e5dc55" },
  { light: "#3d8fb5", dark: "#7fd0f0" },
];

// Weights that the masks of several targets keep; those of one are in the colours of the pool, with numbers and dashes.
export const kSeveral = { light: kDense.light, dark: kDense.dark };

// Modules of sculpted networks, in the colours that true modules have in the task's drawing (src/tasks/area_colours.h).
// Like that drawing they are for white paper; CSS turns both around in the dark.
export const kAreas: { fill: string; line: string }[] = [
  { fill: "#dde5f6", line: "#44558f" },
  { fill: "#fde3d8", line: "#8f5030" },
  { fill: "#e0eed2", line: "#44702c" },
  { fill: "#f4efc9", line: "#77661c" },
  { fill: "#ece0f3", line: "#6b4488" },
  { fill: "#d8f0f0", line: "#2c6b70" },
  { fill: "#f9dde6", line: "#8f3f5c" },
  { fill: "#e6e6e1", line: "#5a5a50" },
];
// Of a module that is none of them.
export const kOtherArea = { fill: "#e9e9e5", line: "#5a5a50" };
