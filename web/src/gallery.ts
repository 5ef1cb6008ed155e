// Networks one by one: the best, the median and the worst of a cell.
import { curveChart, curveLines } from "./curve";
import { clear, el } from "./dom";
import { count, measured, plural } from "./format";
import { imageParts } from "./image_parts";
import type { Palette } from "./palette";
import type { Network, Report } from "./report";
import { isWide, routingDrawing, routingKey } from "./routing";
import { inBothThemes, swatch } from "./swatch";

const kRanks = ["best", "median", "worst"];

function wiring(edits: number): string {
  return edits === 0 ? "found the true wiring" : `${plural(edits, "edit")} from the true wiring`;
}

function card(network: Network, palette: Palette): HTMLElement {
  const { accuracy } = network;
  const onImages = Boolean(network.images);
  const score = (value: number | null, name: string): HTMLElement =>
    el("span", { class: "network-score" }, measured(value, "%", 1), el("span", {}, ` ${name}`));
  return el(
    "article",
    {
      class: `network network-${network.rank}${onImages ? " network-on-images" : ""}`,
      "aria-label": `${network.rank} network`,
    },
    el(
      "header",
      {},
      el("span", { class: "rank" }, network.rank),
      score(accuracy.test, onImages ? "unseen" : "test"),
      onImages ? score(accuracy.seen ?? null, "seen") : null,
    ),
    el(
      "p",
      { class: "network-facts" },
      `train ${measured(accuracy.train, "%", 1)} · validation ${measured(accuracy.validation, "%", 1)} · best epoch ${count(network.best_epoch)}`,
      network.edit_distance === null ? null : el("span", { class: "edits" }, wiring(network.edit_distance)),
    ),
    network.graph
      ? routingDrawing(network.graph, `${network.rank} network of ${network.cell}`)
      : el(
          "div",
          { class: "no-routing" },
          swatch(palette(network.series)),
          el("span", {}, "A network without modules has no wiring to show."),
        ),
    network.curve && network.curve.epochs.length ? curveChart(network.curve, network.best_epoch, onImages) : null,
    imageParts(network),
    // The run's name is what `modlab train --from` needs to train it again.
    el("p", { class: "settings" }, `${network.settings}; run ${network.id}`),
  );
}

// What is left of a cell's name when its task and series are named already.
function rest(network: Network): string {
  let left = network.cell;
  for (const known of [network.task, network.series, network.task]) {
    left = left.startsWith(`${known}, `) ? left.slice(known.length + 2) : left;
  }
  return left;
}

export function gallerySection(report: Report, palette: Palette): HTMLElement {
  const section = el(
    "section",
    { id: "networks", class: "section", "aria-labelledby": "networks-title" },
    el("h2", { id: "networks-title" }, "Networks"),
    el(
      "p",
      { class: "section-lede" },
      "What single networks learned: their wiring over the true one, and how they got there.",
    ),
  );
  if (!report.gallery.length) {
    section.append(el("p", { class: "nothing" }, "There are no networks to show yet."));
    return section;
  }
  const unique = (list: string[]): string[] => [...new Set(list)];
  const routes = el("p", { class: "routing-key" });
  const row = el("div", { class: "networks" });
  const curves = el("p", { class: "curve-key" });
  const selects = { task: el("select"), series: el("select"), cell: el("select") };
  const wanted = { task: "", series: "", cell: "" };

  function fill(select: HTMLSelectElement, values: { value: string; label: string }[], chosen: string): string {
    clear(
      select,
      values.map(({ value, label }) => el("option", { value }, label)),
    );
    const value = values.some((one) => one.value === chosen) ? chosen : (values[0]?.value ?? "");
    select.value = value;
    select.disabled = values.length < 2;
    return value;
  }

  function show(): void {
    const same = (text: string) => ({ value: text, label: text });
    wanted.task = fill(selects.task, unique(report.gallery.map((one) => one.task)).map(same), wanted.task);
    const ofTask = report.gallery.filter((one) => one.task === wanted.task);
    wanted.series = fill(selects.series, unique(ofTask.map((one) => one.series)).map(same), wanted.series);
    const ofSeries = ofTask.filter((one) => one.series === wanted.series);
    const labels = new Map(ofSeries.map((one) => [one.cell, rest(one)]));
    const before = rest(
      report.gallery.find((one) => one.cell === wanted.cell) ?? ({ cell: "", series: "", task: "" } as Network),
    );
    const kept = labels.has(wanted.cell) ? wanted.cell : ([...labels].find(([, label]) => label === before)?.[0] ?? "");
    wanted.cell = fill(
      selects.cell,
      [...labels].map(([value, label]) => ({ value, label })),
      kept,
    );
    const cell = ofSeries.filter((one) => one.cell === wanted.cell);
    cell.sort((one, other) => kRanks.indexOf(one.rank) - kRanks.indexOf(other.rank));
    row.classList.toggle(
      "networks-wide",
      cell.some((network) => (network.graph && isWide(network.graph)) || (network.images?.images ?? 0) > 2),
    );
    const onImages = cell.some((network) => network.images);
    clear(routes, routingKey(onImages));
    clear(
      curves,
      "Curves, in percent: ",
      curveLines(onImages).map((line) => el("span", {}, swatchLine(line), line.name)),
      el("span", {}, "dotted upright: best validation epoch"),
    );
    clear(
      row,
      cell.map((network) => card(network, palette)),
    );
  }

  // The first task may be too easy to tell anything; the first network with modules that differ is a better start.
  const telling = report.gallery.find((one) => one.graph && one.rank === "worst" && (one.edit_distance ?? 0) > 0);
  if (telling) {
    Object.assign(wanted, { task: telling.task, series: telling.series, cell: telling.cell });
  }
  for (const name of ["task", "series", "cell"] as const) {
    selects[name].addEventListener("change", () => {
      wanted[name] = selects[name].value;
      show();
    });
  }
  const step = (by: number): void => {
    const order = unique(report.gallery.map((one) => one.cell));
    const next = report.gallery.find(
      (one) => one.cell === order[(order.indexOf(wanted.cell) + by + order.length) % order.length],
    );
    if (next) {
      Object.assign(wanted, { task: next.task, series: next.series, cell: next.cell });
      show();
    }
  };
  const label = (text: string, select: HTMLElement): HTMLElement => el("label", {}, el("span", {}, text), select);
  section.append(
    el(
      "div",
      { class: "tools gallery-tools" },
      label("Task", selects.task),
      label("Architecture", selects.series),
      label("Cell", selects.cell),
      el(
        "span",
        { class: "stepper" },
        el("button", { type: "button", "aria-label": "Previous cell", click: () => step(-1) }, "‹"),
        el("button", { type: "button", "aria-label": "Next cell", click: () => step(1) }, "›"),
      ),
    ),
    routes,
    row,
    curves,
  );
  show();
  return section;
}

function swatchLine(line: ReturnType<typeof curveLines>[number]): Element {
  const piece = swatch({ light: line.light, dark: line.dark, dash: line.dash, shape: "none" });
  piece.lastElementChild?.remove();
  piece.setAttribute("style", inBothThemes(line));
  return piece;
}
