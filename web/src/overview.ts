// What was run, on what, for how long, and what came of it.
import { claimsPart } from "./claims";
import { el } from "./dom";
import { count, duration, plural, prose, sentence } from "./format";
import type { Palette } from "./palette";
import type { Report } from "./report";
import { hasSculpted, hasSplits } from "./report";
import { swatch } from "./swatch";
import { taskPicture } from "./task_picture";

function stat(number: string, name: string, detail = ""): HTMLElement {
  return el(
    "div",
    { class: "stat" },
    el("dt", {}, name),
    el("dd", {}, el("span", { class: "stat-number" }, number), detail && el("span", { class: "stat-detail" }, detail)),
  );
}

function stats(report: Report): HTMLElement {
  const { overview } = report;
  const percent = overview.planned ? Math.floor((100 * overview.done) / overview.planned) : 0;
  const rate = overview.core_seconds > 0 ? overview.done / overview.core_seconds : 0;
  const sculpted = hasSculpted(report);
  return el(
    "dl",
    { class: "stats" },
    stat(
      count(overview.done),
      sculpted ? "runs" : "networks trained",
      overview.done < overview.planned ? `${percent}\u00a0% of ${count(overview.planned)}` : "all that were planned",
    ),
    overview.core_seconds > 0 || !sculpted
      ? stat(
          duration(overview.core_seconds),
          "core time",
          rate ? `${rate >= 10 ? count(rate) : rate.toPrecision(2)} a second and core` : "",
        )
      : null,
    sculpted
      ? overview.given
        ? null
        : stat(count(overview.trainings ?? 0), "trainings", `in ${plural(overview.carvings ?? overview.done, "trial")}`)
      : stat(
          count(overview.diverged),
          "diverged",
          overview.diverged ? "counted, never selected" : "every run stayed finite",
        ),
    overview.machine || overview.threads
      ? el(
          "div",
          { class: "stat stat-machine" },
          el("dt", {}, overview.given ? "trained elsewhere" : "machine"),
          el(
            "dd",
            {},
            el("span", { class: "stat-words" }, overview.machine || "unknown"),
            overview.threads && el("span", { class: "stat-detail" }, plural(overview.threads, "thread")),
          ),
        )
      : null,
  );
}

function banner(report: Report): HTMLElement | null {
  const { overview } = report;
  if (!overview.missing.length && overview.done >= overview.planned && overview.done > 0) {
    return null;
  }
  const nothing = overview.done === 0;
  const left = Math.max(overview.planned - overview.done, 0);
  const rows = overview.missing.map((series) =>
    el(
      "li",
      {},
      el("span", { class: "missing-name" }, series.series),
      el("meter", {
        min: 0,
        max: Math.max(series.planned, 1),
        value: series.done,
        "aria-label": `${series.series}: ${series.done} of ${series.planned} runs`,
      }),
      el("span", { class: "missing-number" }, `${count(series.done)} of ${count(series.planned)}`),
    ),
  );
  const unfinished = overview.given
    ? "Some runs have no network."
    : overview.shard !== ""
      ? `This is ${overview.shard} of the study.`
      : "This study is not finished.";
  const rest = overview.given
    ? ""
    : overview.shard !== ""
      ? " `modlab study merge` puts the shards together."
      : " Run the study again to train the rest.";
  return el(
    "aside",
    { class: "banner", role: "note", "aria-label": unfinished.replace(/\.$/, "") },
    el("strong", {}, nothing ? "Nothing has been trained yet." : unfinished),
    el(
      "p",
      {},
      nothing
        ? "The page shows what is planned. Run the study and write the report again."
        : `${plural(left, "run")} of ${count(overview.planned)} ${left === 1 ? "is" : "are"} missing; charts and claims use what there is.${rest}`,
    ),
    rows.length ? el("ul", { class: "missing" }, rows) : null,
  );
}

function tasksPart(report: Report): HTMLElement | null {
  if (!report.tasks.length) {
    return null;
  }
  return el(
    "section",
    { class: "part", "aria-labelledby": "tasks-title" },
    el("h3", { id: "tasks-title" }, report.tasks.length === 1 ? "The task" : "The tasks"),
    el(
      "div",
      { class: "tasks" },
      report.tasks.map((task) =>
        el(
          "article",
          { class: "task" },
          el("h4", {}, task.name),
          task.about && el("p", {}, prose(task.about)),
          el(
            "p",
            { class: "task-facts" },
            `${plural(task.inputs, "input")}, ${plural(task.outputs, "output")}; always answering 0 is right in `,
            el("strong", {}, `${Number(task.base_rate.toFixed(2))}\u00a0%`),
            " of bits",
          ),
          task.picture
            ? taskPicture(task)
            : task.gates.length
              ? el(
                  "p",
                  { class: "gates" },
                  task.gates.map((gate) => el("code", {}, gate)),
                )
              : null,
        ),
      ),
    ),
  );
}

function seriesPart(report: Report, palette: Palette): HTMLElement | null {
  if (!report.overview.series.length) {
    return null;
  }
  return el(
    "section",
    { class: "part", "aria-labelledby": "series-title" },
    el("h3", { id: "series-title" }, "What was compared"),
    el(
      "p",
      { class: "note part-note" },
      hasSplits(report) ? "Runs of each series, and how many settings were tuned over." : "Trials of each series.",
    ),
    el(
      "ul",
      { class: "series" },
      report.overview.series.map((series) =>
        el(
          "li",
          {},
          swatch(palette(series.name)),
          el("span", { class: "series-name" }, series.name),
          el(
            "span",
            { class: "series-runs" },
            plural(series.runs, hasSplits(report) ? "run" : "trial"),
            series.settings > 1 ? ` · ${plural(series.settings, "setting")}` : "",
          ),
        ),
      ),
    ),
  );
}

export function overviewSection(report: Report, palette: Palette, figureAnchor: (id: string) => string): HTMLElement {
  return el(
    "section",
    { id: "overview", class: "section", "aria-label": "Overview" },
    el(
      "header",
      { class: "masthead" },
      el(
        "p",
        { class: "eyebrow" },
        "Study ",
        el("code", {}, report.study),
        report.preset && [" · preset ", el("code", {}, report.preset)],
      ),
      el("h1", {}, report.title),
      report.about && el("p", { class: "lede" }, prose(report.about)),
      report.preset_about || report.overview.overrides.length
        ? el(
            "p",
            { class: "preset" },
            sentence(report.preset_about),
            report.overview.overrides.length
              ? [" Changed on the command line: ", report.overview.overrides.map((text) => [el("code", {}, text), " "])]
              : null,
          )
        : null,
    ),
    banner(report),
    report.overview.done ? stats(report) : null,
    claimsPart(report, figureAnchor),
    tasksPart(report),
    seriesPart(report, palette),
  );
}
