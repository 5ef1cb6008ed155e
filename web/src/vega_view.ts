// Vega without `eval` and without a way to fetch anything.
import { parse, View } from "vega";
import { expressionInterpreter } from "vega-interpreter";
import { compile } from "vega-lite";
import type { Spec } from "./chart_options";

// The little of Vega's View that is used here.
export interface ChartView {
  runAsync(): Promise<unknown>;
  signal(name: string, value: unknown): ChartView;
  toSVG(): Promise<string>;
  finalize(): unknown;
}

function refuse(): Promise<never> {
  return Promise.reject(new Error("A report loads nothing."));
}

const kNoLoader = { load: refuse, sanitize: refuse, http: refuse, file: refuse, options: {} };

export function makeView(spec: Spec, container?: HTMLElement): ChartView {
  const vega = compile(spec as never, { logger: kQuiet as never }).spec;
  const runtime = parse(vega, undefined, { ast: true } as never);
  return new View(runtime, {
    expr: expressionInterpreter,
    loader: kNoLoader as never,
    renderer: container ? "svg" : "none",
    container: container ?? undefined,
    hover: false,
    tooltip: () => undefined,
    logLevel: 1,
  } as never) as unknown as ChartView;
}

// Vega-Lite's remarks are for whoever writes specifications, not for whoever reads the report.
const kQuiet = {
  level() {
    return kQuiet;
  },
  error: (...words: unknown[]) => {
    throw new Error(words.join(" "));
  },
  warn: () => kQuiet,
  info: () => kQuiet,
  debug: () => kQuiet,
};
