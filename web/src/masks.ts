// Masked networks one by one: which weights each target needs, and what it does with them alone.
import { betaCurve } from "./beta_curve";
import { cellChooser } from "./cell_chooser";
import { classMaps } from "./class_maps";
import { clear, el } from "./dom";
import type { Child } from "./dom";
import { compact, count, plural } from "./format";
import { accuracyMap, answerMaps, takenOverMap } from "./mask_answers";
import { sharingBars } from "./mask_bars";
import type { ShownMasked, ShownMaskedCell } from "./mask_details";
import { maskedCells } from "./mask_details";
import { chanceHistograms } from "./mask_histogram";
import type { Keeper } from "./mask_keepers";
import { keeperKey, keepersOf } from "./mask_keepers";
import { cellSize, maskMatrix } from "./mask_matrix";
import { layerChains, maskNetwork } from "./mask_network";
import { networksSection } from "./networks_section";
import type { MaskedRank, Report } from "./report";
import { hasMixtures, hasSculpted, hasTrained, isNumber } from "./report";
import { onThemeChange } from "./theme";

const kRankNames: Record<MaskedRank, string> = { least: "shares least", median: "median", most: "shares most" };

const kFewWarnings = 2; // that are shown at once

interface Picture {
  element: HTMLElement;
  show: (keeper: number) => void;
}

// Layers with edges where that can be looked at, and matrices elsewhere.
function pictureOf(network: ShownMasked, keepers: Keeper[]): Picture {
  const chains = layerChains(network.tensors, network.isExact);
  const size = cellSize(network.tensors);
  const parts = chains
    ? chains.map((chain) => maskNetwork(chain, keepers, network.inputs, network.outputs, chains.length === 1))
    : network.tensors.flatMap((tensor) => (tensor.picture ? [maskMatrix(tensor, tensor.picture, keepers, size)] : []));
  return {
    element: parts.length
      ? el(
          "div",
          { class: "mask-pictures" },
          parts.map((part) => part.element),
        )
      : el("div", { class: "no-routing" }, "Its masks were not stored, only what they came to."),
    show: (keeper) => parts.forEach((part) => part.show(keeper)),
  };
}

function keptWords(network: ShownMasked): string {
  const all = network.tensors.reduce((sum, tensor) => sum + tensor.weights, 0);
  const kept = network.masks.map((mask, at) => {
    const own = network.tensors.reduce((sum, tensor) => sum + (tensor.kept[at] ?? 0), 0);
    return `${mask.name} ${count(own)}`;
  });
  return `of ${plural(all, "weight")} masks keep: ${kept.join(", ")}`;
}

function again(network: ShownMasked): Child {
  const known = network.masks.map((mask) => mask.again).filter(isNumber);
  const mean = known.reduce((sum, one) => sum + one, 0) / known.length;
  return known.length ? ` · trained again ${mean.toFixed(2)}` : null;
}

function warningList(warnings: string[]): Child {
  const list = el(
    "ul",
    { class: "mask-warnings" },
    warnings.map((warning) => el("li", {}, warning)),
  );
  if (warnings.length <= kFewWarnings) {
    return warnings.length ? list : null;
  }
  return el("details", { class: "mask-doubts" }, el("summary", {}, plural(warnings.length, "warning")), list);
}

interface Card {
  element: HTMLElement;
  picture: Picture;
}

function networkCard(network: ShownMasked, cell: ShownMaskedCell, keepers: Keeper[]): Card {
  const picture = pictureOf(network, keepers);
  const { sharing } = network;
  const name = cell.networks.length > 1 ? kRankNames[network.rank] : "network";
  const element = el(
    "article",
    { class: "network masked", "aria-label": `${name}, ${cell.cell}` },
    el(
      "header",
      {},
      el("span", { class: "rank" }, name),
      sharing
        ? el("span", { class: "network-score" }, sharing.iou.toFixed(3), el("span", {}, " IoU"))
        : el("span", { class: "network-score" }, el("span", {}, "one target")),
    ),
    el(
      "p",
      { class: "network-facts" },
      sharing ? `by chance ${sharing.iou_chance.toFixed(2)}` : "nothing to share",
      again(network),
      isNumber(network.beta) ? ` · beta ${compact(network.beta)}` : null,
      el("br"),
      keptWords(network),
    ),
    warningList(network.warnings),
    picture.element,
    sharingBars(network),
    takenOverMap(network),
    accuracyMap(network),
    answerMaps(network),
    classMaps(network),
    chanceHistograms(network),
    betaCurve(network),
    el("p", { class: "settings" }, [network.settings, `run ${network.id}`].filter(Boolean).join("; ")),
  );
  return { element, picture };
}

export function masksSection(report: Report): HTMLElement {
  const lede =
    "Which weights of single networks each target needs: the masks themselves, what they share beside what random masks would, and what a network does under them. Of each cell, the networks whose masks share least and most, and the one between.";
  const section =
    hasTrained(report) || hasSculpted(report) || hasMixtures(report)
      ? networksSection(lede, "masks", "Masks")
      : networksSection(lede);
  const cells = maskedCells(report.masks);
  if (!cells.length) {
    section.append(el("p", { class: "nothing" }, "There are no networks to show yet."));
    return section;
  }
  const row = el("div", { class: "networks networks-masked" });
  const key = el("div", { class: "routing-key" });
  let cards: Card[] = [];
  let chosen = -1;
  const paint = (): void => cards.forEach((card) => card.picture.show(chosen));

  function show([cell]: ShownMaskedCell[]): void {
    const keepers = keepersOf(cell?.networks[0]?.targets ?? []);
    cards = cell ? cell.networks.map((network) => networkCard(network, cell, keepersOf(network.targets))) : [];
    chosen = -1;
    clear(
      key,
      el("span", {}, "Weights kept by"),
      keeperKey(keepers, chosen, (at) => {
        chosen = at;
        paint();
      }),
      el("span", {}, el("span", { class: "sharing-key", "aria-hidden": "true" }), "upright mark: by chance"),
      cell && cell.runs > cell.networks.length ? el("span", {}, `${plural(cell.runs, "run")} in this cell`) : null,
    );
    clear(
      row,
      cards.map((card) => card.element),
    );
    paint();
  }

  // Matrices are painted, not styled.
  onThemeChange(paint);
  section.append(cellChooser(cells, "Series", cells[0], show), key, row);
  return section;
}
