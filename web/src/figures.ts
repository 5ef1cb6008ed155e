// node figures.mjs REPORT.json FOLDER: draws every figure and measure of a report as an SVG file for a paper, and prints
// the files' names without their ending, one on a line.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as vega from "vega";
import { firstError, isChart } from "./chart_points";
import { chartSpec } from "./chart_spec";
import { slug } from "./format";
import { kFileLook, makePalette } from "./palette";
import type { Report } from "./report";
import { completeReport } from "./report";
import { makeView } from "./vega_view";

const kPaperWidth = 672; // seven inches, the width of two columns

// Without a canvas Vega takes every letter for 0.8 of its height wide. Helvetica's are mostly narrower.
function textWidth(item: { fontSize?: number }, text: unknown): number {
  const ems = [...String(text)].map((letter) =>
    /[iljtfrI.,:;|!'()[\] \u202f-]/.test(letter)
      ? 0.3
      : /[mwMW%@]/.test(letter)
        ? 0.86
        : /[A-Z]/.test(letter)
          ? 0.7
          : 0.555,
  );
  return ems.reduce((sum, width) => sum + width, 0) * (item.fontSize ?? 11);
}

async function drawAll(report: Report, folder: string): Promise<string[]> {
  const palette = makePalette(report);
  const names: string[] = [];
  for (const figure of report.figures) {
    if (!isChart(figure) || !figure.rows.length) {
      continue;
    }
    for (const measure of figure.by_measure ? figure.measures.slice(0, 1) : figure.measures) {
      const stem = figure.by_measure ? slug(figure.id) : `${slug(figure.id)}-${slug(measure.name)}`;
      const same = names.filter((name) => name === stem || name.startsWith(`${stem}_`)).length;
      const name = same ? `${stem}_${same + 1}` : stem;
      const width = figure.panel || figure.row || figure.by_measure ? kPaperWidth : 440;
      const spec = chartSpec(figure, {
        measure,
        error: firstError(figure),
        look: kFileLook,
        palette,
        width,
        file: true,
        title: false,
        hidden: [],
      });
      const view = makeView(spec);
      writeFileSync(join(folder, `${name}.svg`), await view.toSVG());
      view.finalize();
      names.push(name);
    }
  }
  return names;
}

// Vega's types leave this out.
(vega as unknown as { textMetrics: { width: typeof textWidth } }).textMetrics.width = textWidth;
const [source, folder] = process.argv.slice(2);
if (!source || !folder) {
  throw new Error("Say what to draw and where: figures.mjs REPORT.json FOLDER");
}
const names = await drawAll(completeReport(JSON.parse(readFileSync(source, "utf8"))), folder);
process.stdout.write(names.map((name) => `${name}\n`).join(""));
