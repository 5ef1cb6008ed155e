// Networks one by one: the best, the median and the worst of a cell.
import { cellChooser } from "./cell_chooser";
import { curveChart, curveLines } from "./curve";
import { clear, el } from "./dom";
import { count, measured, plural } from "./format";
import { imageParts } from "./image_parts";
import { networksSection } from "./networks_section";
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
          el(
            "span",
            {},
            network.edit_distance === null
              ? "A network without modules has no wiring to show."
              : "Its weights were not kept: `modlab train --from DIR --run` with its name trains it again.",
          ),
        ),
    network.curve && network.curve.epochs.length ? curveChart(network.curve, network.best_epoch, onImages) : null,
    imageParts(network),
    // The run's name is what `modlab train --from` needs to train it again.
    el("p", { class: "settings" }, `${network.settings}; run ${network.id}`),
  );
}

export function gallerySection(report: Report, palette: Palette): HTMLElement {
  const section = networksSection(
    "What single networks learned: their wiring over the true one, and how they got there.",
  );
  if (!report.gallery.length) {
    section.append(el("p", { class: "nothing" }, "There are no networks to show yet."));
    return section;
  }
  const routes = el("p", { class: "routing-key" });
  const row = el("div", { class: "networks" });
  const curves = el("p", { class: "curve-key" });

  function show(networks: Network[]): void {
    const cell = [...networks].sort((one, other) => kRanks.indexOf(one.rank) - kRanks.indexOf(other.rank));
    row.classList.toggle(
      "networks-wide",
      cell.some((network) => (network.graph && isWide(network.graph)) || (network.images?.images ?? 0) > 2),
    );
    const onImages = cell.some((network) => network.images);
    const hasFree = cell.some((network) => network.graph?.edges.some((edge) => edge.state === "free"));
    clear(routes, routingKey(onImages, hasFree));
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
  section.append(cellChooser(report.gallery, "Architecture", telling, show), routes, row, curves);
  return section;
}

function swatchLine(line: ReturnType<typeof curveLines>[number]): Element {
  const piece = swatch({ light: line.light, dark: line.dark, dash: line.dash, shape: "none" });
  piece.lastElementChild?.remove();
  piece.setAttribute("style", inBothThemes(line));
  return piece;
}
