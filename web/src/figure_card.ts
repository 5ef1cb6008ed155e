// A figure with its switches, legend, downloads, and what a click brings up.
import type { ChartFigure, ErrorKind } from "./chart_points";
import { firstError, hasSplits, isBars, isChart, seriesOf } from "./chart_points";
import { claimAnchor } from "./claims";
import { figureCsv } from "./csv";
import type { Child } from "./dom";
import { choice, clear, el, saveAs } from "./dom";
import { makeChart } from "./figure_chart";
import type { Chart } from "./figure_chart";
import { detailWords, valueTable } from "./figure_words";
import { capital, prose, slug } from "./format";
import type { Palette } from "./palette";
import type { Figure, Measure, Report } from "./report";
import { drawnWords, figureName, isNumber } from "./report";
import { swatch } from "./swatch";
import { verdictClass, verdictSign } from "./verdict";

export function figureAnchor(id: string): string {
  return `figure-${id.replace(/[^A-Za-z0-9-]/g, "-")}`;
}

function legend(figure: ChartFigure, palette: Palette, chart: Chart): HTMLElement | null {
  const names = figure.series ? seriesOf(figure) : [];
  if (names.length < 2 || figure.kind === "heatmap") {
    return null;
  }
  const hidden = new Set<string>();
  const update = (): void => {
    names.forEach((name, at) => buttons[at]?.setAttribute("aria-pressed", String(!hidden.has(name))));
    all.hidden = !hidden.size;
    chart.setHidden([...hidden]);
  };
  const buttons = names.map((name) =>
    el(
      "button",
      {
        type: "button",
        class: "legend-item",
        "aria-pressed": "true",
        "data-series": name,
        title: "Click to hide or show; double-click to see only this one",
        click: () => {
          if (!hidden.delete(name)) {
            hidden.add(name);
          }
          update();
          chart.emphasise(hidden.has(name) ? null : name);
        },
        dblclick: () => {
          names.forEach((other) => hidden.add(other));
          hidden.delete(name);
          update();
        },
        pointerenter: () => chart.emphasise(hidden.has(name) ? null : name),
        pointerleave: () => chart.emphasise(null),
        focus: () => chart.emphasise(hidden.has(name) ? null : name),
        blur: () => chart.emphasise(null),
      },
      swatch(palette(name), isBars(figure)),
      el("span", {}, name),
    ),
  );
  const all = el(
    "button",
    {
      type: "button",
      class: "legend-all",
      hidden: true,
      click: () => {
        hidden.clear();
        update();
      },
    },
    "Show all",
  );
  return el("div", { class: "legend", role: "group", "aria-label": figure.series?.label ?? "Series" }, buttons, all);
}

function claimLinks(figure: Figure, report: Report): Child {
  const claims = report.claims.filter((claim) => claim.figure === figure.id);
  return claims.length
    ? el(
        "p",
        { class: "figure-claims" },
        "Claims: ",
        claims.map((claim) => [
          el(
            "a",
            {
              href: `#${claimAnchor(claim)}`,
              class: `claim-chip ${verdictClass(claim.verdict)}`,
              title: claim.text,
              "aria-label": `${claim.id} ${claim.verdict}: ${claim.text}`,
            },
            verdictSign(claim.verdict),
            claim.id,
          ),
          " ",
        ]),
      )
    : null;
}

function head(figure: Figure, report: Report): HTMLElement {
  return el(
    "header",
    { class: "figure-head" },
    figure.paper && el("p", { class: "eyebrow" }, figure.paper),
    el("h3", {}, figure.title),
    figure.about && el("p", { class: "figure-about" }, prose(figure.about)),
    claimLinks(figure, report),
  );
}

function download(label: string, title: string, save: () => void): HTMLElement {
  return el("button", { type: "button", class: "download", title, "aria-label": title, click: save }, label);
}

function nothingYet(figure: Figure): HTMLElement {
  return el("p", { class: "nothing" }, `There is no data for ${figureName(figure)} yet.`);
}

function tableCard(figure: Figure, report: Report, stem: string): HTMLElement {
  const table = figure.table;
  if (!table?.rows.length) {
    return el("article", { class: "figure", id: figureAnchor(figure.id) }, head(figure, report), nothingYet(figure));
  }
  const numeric = table.columns.map((_, at) => table.rows.every((row) => row[at] === null || isNumber(row[at])));
  return el(
    "article",
    { class: "figure", id: figureAnchor(figure.id) },
    head(figure, report),
    el(
      "div",
      { class: "tools" },
      el("span", { class: "spring" }),
      download("CSV", `Download the data of ${figureName(figure)} as CSV`, () =>
        saveAs(`${stem}.csv`, "text/csv", figureCsv(figure)),
      ),
    ),
    el(
      "div",
      { class: "scroll", tabindex: 0, role: "region", "aria-label": figure.title },
      el(
        "table",
        { class: "plain" },
        el(
          "thead",
          {},
          el(
            "tr",
            {},
            table.columns.map((name, at) =>
              el("th", { scope: "col", class: numeric[at] ? "number" : null }, capital(name)),
            ),
          ),
        ),
        el(
          "tbody",
          {},
          table.rows.map((row) =>
            el(
              "tr",
              {},
              row.map((value, at) =>
                el(
                  "td",
                  { class: numeric[at] ? "number" : null },
                  isNumber(value) ? value.toLocaleString("en-US", { maximumFractionDigits: 4 }) : (value ?? "–"),
                ),
              ),
            ),
          ),
        ),
      ),
    ),
    table.notes.map((note) => el("p", { class: "note" }, prose(note))),
  );
}

export function figureCard(figure: Figure, report: Report, palette: Palette): HTMLElement {
  const stem = `${slug(report.study)}-${slug(figure.id)}`;
  if (!isChart(figure)) {
    return tableCard(figure, report, stem);
  }
  const first = figure.measures[0];
  const drawable = (measure: Measure): boolean => figure.rows.some((row) => isNumber(row.values[measure.name]?.mean));
  if (!first || !figure.measures.some(drawable)) {
    return el("article", { class: "figure", id: figureAnchor(figure.id) }, head(figure, report), nothingYet(figure));
  }
  let measure = first;
  let picked: { key: number; measure: Measure } | null = null;
  const detail = el("div", { class: "detail", "aria-live": "polite", hidden: true });
  const showDetail = (): void => {
    const row = picked === null ? null : figure.rows[picked.key];
    detail.hidden = !row;
    if (row && picked) {
      clear(
        detail,
        detailWords(figure, row, picked.measure, palette),
        el(
          "button",
          {
            type: "button",
            class: "close",
            "aria-label": "Close",
            click: () => {
              picked = null;
              showDetail();
            },
          },
          "×",
        ),
      );
    }
  };
  const chart = makeChart(figure, palette, measure, (key, of) => {
    picked = { key, measure: of };
    showDetail();
  });
  const values = el("details", { class: "values", toggle: () => fillValues() }, el("summary", {}, "Values as a table"));
  const fillValues = (): void => {
    values.querySelector(".scroll")?.remove();
    if (values.open) {
      values.append(valueTable(figure, measure));
    }
  };
  const hasErrors = figure.rows.some((row) => Object.values(row.values).some((value) => isNumber(value?.within)));
  const errors: { value: ErrorKind; label: string; title: string }[] = [
    ...(hasErrors
      ? [
          {
            value: "within" as const,
            label: hasSplits(figure) ? `Within ${drawnWords(figure)}` : "Over seeds",
            title: `Standard error over training seeds${hasSplits(figure) ? `, within a ${figure.drawn}` : ""}`,
          },
        ]
      : []),
    ...(hasSplits(figure)
      ? [
          {
            value: "between" as const,
            label: `Between ${drawnWords(figure)}`,
            title: `Standard error over ${drawnWords(figure)}`,
          },
        ]
      : []),
    { value: "none", label: "None", title: "No error bands" },
  ];
  return el(
    "article",
    { class: "figure", id: figureAnchor(figure.id) },
    head(figure, report),
    el(
      "div",
      { class: "tools" },
      figure.measures.length > 1 && !figure.by_measure
        ? choice(
            "Measure",
            figure.measures.map((one) => ({ value: one.name, label: capital(one.label) })),
            measure.name,
            (name) => {
              measure = figure.measures.find((one) => one.name === name) ?? measure;
              chart.setMeasure(measure);
              picked = picked && { ...picked, measure };
              showDetail();
              fillValues();
            },
          )
        : null,
      figure.kind !== "heatmap" && figure.kind !== "votes" && errors.length > 1
        ? el(
            "div",
            { class: "labelled" },
            el("span", { "aria-hidden": "true" }, "Error"),
            choice("Error bands", errors, firstError(figure), (error) => chart.setError(error)),
          )
        : null,
      el("span", { class: "spring" }),
      el(
        "span",
        { class: "downloads" },
        download(
          "SVG",
          `Download ${figureName(figure)} as SVG`,
          () => void chart.svg().then((text) => saveAs(`${figure.by_measure ? stem : `${stem}-${slug(measure.name)}`}.svg`, "image/svg+xml", text)),
        ),
        download("CSV", `Download the data of ${figureName(figure)} as CSV`, () =>
          saveAs(`${stem}.csv`, "text/csv", figureCsv(figure)),
        ),
      ),
    ),
    legend(figure, palette, chart),
    chart.element,
    detail,
    values,
  );
}
