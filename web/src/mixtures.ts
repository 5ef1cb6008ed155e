// Networks on rules side by side: which module serves which rule, from the first iteration to the last.
import { cellChooser } from "./cell_chooser";
import { choice, clear, el } from "./dom";
import { count, measured, plural } from "./format";
import { curveScales, mixtureCurve } from "./mixture_curve";
import type { CurveScales } from "./mixture_curve";
import type { Moment, ShownCell, ShownMixture, UseName } from "./mixture_details";
import { kUseNames, mixtureCells, momentAt } from "./mixture_details";
import { matrixKey, matrixView } from "./mixture_matrix";
import { timeControl } from "./mixture_time";
import { networksSection } from "./networks_section";
import type { Palette } from "./palette";
import type { Report } from "./report";
import { hasSculpted, hasTrained, isNumber } from "./report";
import { swatch } from "./swatch";

const kUse: Record<UseName, { name: string; about: string }> = {
  collapse_avg: { name: "collapse, average", about: "Share of all use that modules lack to an equal one" },
  collapse_worst: { name: "collapse, worst", about: "What the least used module lacks to an equal share" },
  alignment: { name: "alignment", about: "Use that lies outside the best pairing of rules with modules" },
  adaptation: { name: "adaptation", about: "Distance of module use to the frequencies of rules, as these change" },
  imi: { name: "inverse information", about: "Inverse mutual information of rules and modules" },
};

const kGates: Record<ShownMixture["gates"], string> = {
  oracle: "oracle: gates are given",
  learned: "learned gates",
  uniform: "uniform gates",
  none: "no modules, no gates",
};

interface Card {
  element: HTMLElement;
  show: (iteration: number, byRule: boolean) => void;
}

function useTable(): { element: HTMLElement; show: (moment: Moment) => void } {
  const rows = kUseNames.map((name) => ({ name, bar: el("span"), number: el("dd") }));
  return {
    element: el(
      "dl",
      { class: "use" },
      rows.map(({ name, bar, number }) =>
        el(
          "div",
          { title: kUse[name].about },
          el("dt", {}, kUse[name].name),
          el("span", { class: "use-bar", "aria-hidden": "true" }, bar),
          number,
        ),
      ),
    ),
    show: (moment) => {
      for (const { name, bar, number } of rows) {
        const value = moment.use[name];
        bar.style.width = `${100 * (value ?? 0)}%`;
        number.textContent = isNumber(value) ? value.toFixed(3) : "–";
      }
    },
  };
}

function facts(network: ShownMixture): string {
  const seed = isNumber(network.seed) ? `seed ${count(network.seed)}` : "";
  const median = network.runs > 1 ? `median loss of ${plural(network.runs, "run")}` : "";
  return [seed, median, network.id ? `run ${network.id}` : ""].filter(Boolean).join(", ");
}

function networkCard(
  network: ShownMixture,
  cell: ShownCell,
  scales: CurveScales,
  palette: Palette,
  choose: (iteration: number) => void,
): Card {
  const isDrawn = network.moments.some((moment) => moment.shares);
  const matrix = isDrawn ? matrixView(network, cell.rules) : null;
  const use = network.modules ? useTable() : null;
  const isTrained = network.moments.some((moment) => isNumber(moment.loss));
  const curve = isTrained ? mixtureCurve(network, scales, choose) : null;
  const loss = el("span", { class: "network-score" });
  const element = el(
    "article",
    { class: "network mixture", "aria-label": `${network.name}, ${kGates[network.gates]}` },
    el("header", {}, el("span", { class: "rank" }, network.name), loss),
    el(
      "p",
      { class: "network-facts" },
      network.gates === "uniform" ? null : swatch(palette(network.series)),
      el("span", {}, kGates[network.gates]),
    ),
    matrix?.element ??
      el(
        "div",
        { class: "no-routing" },
        network.modules
          ? `There is no matrix of its ${plural(cell.rules, "rule")} and ${plural(network.modules, "module")} to draw.`
          : "A network without modules has no matrix.",
      ),
    use?.element,
    curve?.element,
    facts(network) ? el("p", { class: "settings" }, facts(network)) : null,
  );
  return {
    element,
    show: (iteration, byRule) => {
      const moment = momentAt(network, iteration);
      clear(loss, isTrained ? [measured(moment.loss, ""), el("span", {}, " loss")] : el("span", {}, "not trained"));
      matrix?.show(moment, byRule);
      use?.show(moment);
      curve?.point(iteration);
    },
  };
}

// The cell in which learned gates collapsed most.
function mostTelling(cells: ShownCell[]): ShownCell | undefined {
  const collapse = ({ networks }: ShownCell): number =>
    networks.reduce(
      (most, network) =>
        network.gates === "learned" ? Math.max(most, momentAt(network, Infinity).use.collapse_avg ?? 0) : most,
      0,
    );
  return cells.reduce<ShownCell | undefined>(
    (best, cell) => (best && collapse(best) >= collapse(cell) ? best : cell),
    undefined,
  );
}

export function mixturesSection(report: Report, palette: Palette): HTMLElement {
  const lede =
    "Which module serves which rule, in a typical network of each model. The slider goes through the training: modules specialise, or some of them take over.";
  const section =
    hasTrained(report) || hasSculpted(report)
      ? networksSection(lede, "mixtures", "Mixtures")
      : networksSection(lede);
  const cells = mixtureCells(report.mixtures);
  if (!cells.length) {
    section.append(el("p", { class: "nothing" }, "There are no networks to show yet."));
    return section;
  }
  const row = el("div", { class: "networks networks-mixtures" });
  let cards: Card[] = [];
  let now = Infinity;
  let byRule = true;
  const look = (iteration: number): void => {
    now = iteration;
    cards.forEach((card) => card.show(now, byRule));
  };
  const time = timeControl(look);

  function show([cell]: ShownCell[]): void {
    const networks = cell?.networks ?? [];
    const scales = curveScales(networks);
    cards = cell ? networks.map((network) => networkCard(network, cell, scales, palette, time.choose)) : [];
    clear(
      row,
      cards.map((card) => card.element),
    );
    const times = networks.flatMap((network) => network.moments.map((moment) => moment.iteration));
    time.setTimes([...new Set(times)].sort((one, other) => one - other));
  }

  const tools = cellChooser(cells, "Rules", mostTelling(cells), show);
  const order = choice(
    "Order of modules",
    [
      { value: "rule", label: "by rule", title: "In the order of the rules that they serve in the end" },
      { value: "own", label: "as built", title: "In the order that they have in the network" },
    ],
    "rule",
    (chosen) => {
      byRule = chosen === "rule";
      look(now);
    },
  );
  tools.append(el("span", { class: "labelled" }, "Modules", order));
  section.append(tools, el("p", { class: "routing-key" }, matrixKey()), time.element, row);
  return section;
}
