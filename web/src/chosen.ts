// The settings that won, cell by cell and split by split.
import { chosenCsv } from "./csv";
import { clear, el, saveAs } from "./dom";
import { count, measured, plural, slug } from "./format";
import type { Palette } from "./palette";
import type { Chosen, Report } from "./report";
import { hasMasks, hasMixtures, hasSculpted } from "./report";
import { swatch } from "./swatch";

const kPage = window.innerWidth < 640 ? 20 : 60; // rows before "show all"

// Where runs differ in nothing but what was drawn there is nothing to choose.
export function choosesSettings(report: Report): boolean {
  return report.chosen.length
    ? report.chosen.some((row) => row.settings)
    : !(hasSculpted(report) || hasMixtures(report) || hasMasks(report));
}

export function chosenSection(report: Report, palette: Palette): HTMLElement {
  const section = el(
    "section",
    { id: "settings", class: "section", "aria-labelledby": "settings-title" },
    el("h2", { id: "settings-title" }, "Chosen settings"),
    el(
      "p",
      { class: "section-lede" },
      "For each series, cell and split, the configuration with the best mean validation accuracy. Test data take no part.",
    ),
  );
  if (!report.chosen.length) {
    section.append(el("p", { class: "nothing" }, "Nothing has been selected yet."));
    return section;
  }
  let limit = kPage;
  const body = el("tbody");
  const status = el("span", { class: "note", "aria-live": "polite" });
  const words = el("input", {
    type: "search",
    placeholder: "depth2 0.5 batch 4",
    "aria-label": "Filter by words",
    autocomplete: "off",
  });
  const series = el(
    "select",
    { "aria-label": "Series" },
    el("option", { value: "" }, "all series"),
    [...new Set(report.chosen.map((row) => row.series))].map((name) => el("option", { value: name }, name)),
  );
  const more = el("button", {
    type: "button",
    class: "more",
    click: () => {
      limit = Infinity;
      show();
    },
  });

  // Every word has to occur somewhere in the row.
  function matching(): Chosen[] {
    const parts = words.value.toLowerCase().split(/\s+/).filter(Boolean);
    return report.chosen.filter((row) => {
      const text = `${row.series} ${row.cell} split ${row.split ?? ""} ${row.settings}`.toLowerCase();
      return (!series.value || row.series === series.value) && parts.every((part) => text.includes(part));
    });
  }

  function show(): void {
    const rows = matching();
    clear(
      body,
      rows
        .slice(0, limit)
        .map((row) =>
          el(
            "tr",
            {},
            el("td", { class: "chosen-series" }, swatch(palette(row.series)), el("span", {}, row.series)),
            el("td", {}, row.cell),
            el("td", { class: "number", "data-name": "split" }, row.split ?? ""),
            el("td", { class: "settings" }, row.settings),
            el("td", { class: "number", "data-name": "validation" }, measured(row.validation, "%", 1)),
            el("td", { class: "number", "data-name": "tied" }, row.tied),
          ),
        ),
    );
    clear(
      status,
      rows.length === report.chosen.length
        ? plural(rows.length, "row")
        : `${count(rows.length)} of ${plural(report.chosen.length, "row")}`,
    );
    more.hidden = rows.length <= limit;
    clear(more, `Show all ${count(rows.length)} rows`);
  }

  const refresh = (): void => {
    limit = kPage;
    show();
  };
  words.addEventListener("input", refresh);
  series.addEventListener("change", refresh);
  section.append(
    el(
      "div",
      { class: "tools" },
      el("label", {}, el("span", {}, "Filter"), words),
      el("label", {}, el("span", {}, "Series"), series),
      status,
      el("span", { class: "spring" }),
      el(
        "button",
        {
          type: "button",
          class: "download",
          title: "Download these rows as CSV",
          "aria-label": "Download the chosen settings as CSV",
          click: () => saveAs(`${slug(report.study)}-chosen.csv`, "text/csv", chosenCsv(matching())),
        },
        "CSV",
      ),
    ),
    el(
      "table",
      { class: "plain chosen" },
      el(
        "thead",
        {},
        el(
          "tr",
          {},
          ["Series", "Cell", "Split", "Settings", "Validation", "Tied"].map((name, at) =>
            el(
              "th",
              {
                scope: "col",
                class: at === 2 || at > 3 ? "number" : null,
                title: name === "Tied" ? "How many configurations shared the best validation accuracy" : null,
              },
              name,
            ),
          ),
        ),
      ),
      body,
    ),
    more,
  );
  show();
  return section;
}
