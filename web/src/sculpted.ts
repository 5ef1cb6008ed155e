// Sculpted networks one by one, beside the task that they learned.
import { cellChooser } from "./cell_chooser";
import { clear, el } from "./dom";
import type { Child } from "./dom";
import { count, measured, plural, prose } from "./format";
import { networksSection } from "./networks_section";
import type { Report, Sculpted, SculptedCell, SculptedRank, Task } from "./report";
import { isNumber, hasTrained } from "./report";
import { sculptedCells } from "./sculpted_details";
import { historyKey, sculptedHistory } from "./sculpted_history";
import { networksOf } from "./sculpted_network";
import { sculptedKey, sculptedPicture } from "./sculpted_picture";
import { taskPicture } from "./task_picture";
import { verdictSign } from "./verdict";

function hasLearned(network: Sculpted): boolean {
  return network.edges !== null;
}

function rankReason(rank: SculptedRank, network: Sculpted, cell: SculptedCell): string {
  const reasons: Record<SculptedRank, string> = {
    typical: `median number of edges of ${plural(cell.learned, "trial")}`,
    best: network.success === null ? "fewest edges" : "fewest edges with the true modules",
    failed: hasLearned(network) ? "first trial with other modules" : "nothing was pruned",
  };
  return reasons[rank];
}

function verdict(network: Sculpted): Child {
  if (!hasLearned(network)) {
    return el("span", { class: "badge verdict-fails" }, verdictSign("fails"), el("span", {}, "did not learn"));
  }
  if (network.success === null) {
    return null;
  }
  return network.success
    ? el("span", { class: "badge verdict-holds" }, verdictSign("holds"), el("span", {}, "true modules"))
    : el("span", { class: "badge verdict-fails" }, verdictSign("fails"), el("span", {}, "other modules"));
}

function withTrueModules(some: number, all: number): string {
  if (all === 1) {
    return some ? "with the true modules" : "without the true modules";
  }
  return `${some === 0 ? "none" : some === all ? "all" : count(some)} with the true modules`;
}

// p_u or p_e, in percent.
function firstStep(what: string, percent: number): Child[] {
  return ["p", el("sub", {}, what), ` ${percent}\u202f%`];
}

function facts(network: Sculpted): HTMLElement {
  const item = (name: string, ...value: Child[]): HTMLElement => el("div", {}, el("dt", {}, name), el("dd", {}, value));
  const of = (left: number | null, all: number): Child[] => [
    el("strong", {}, isNumber(left) ? count(left) : "–"),
    ` of ${count(all)}`,
  ];
  const tiedTrue = network.tied_true;
  return el(
    "dl",
    { class: "sculpted-facts" },
    item("edges left", of(network.edges, network.dense_edges)),
    item("live hidden units", of(network.units, network.dense_units)),
    item(
      "tied networks",
      el("strong", {}, count(network.tied)),
      isNumber(tiedTrue) ? `, ${withTrueModules(tiedTrue, network.tied)}` : "",
    ),
    item(
      "first steps",
      isNumber(network.unit_step) && isNumber(network.edge_step)
        ? [firstStep("u", network.unit_step), ", ", firstStep("e", network.edge_step)]
        : "–",
    ),
  );
}

function networkCard(network: Sculpted, cell: SculptedCell): HTMLElement {
  const name = network.ranks.join(" and ");
  const picture = network.drawing
    ? sculptedPicture(network.drawing, networksOf(network.drawing), `${name} network of ${cell.cell}`)
    : null;
  return el(
    "article",
    { class: "network sculpted-network", "aria-label": `${name} network` },
    el("header", {}, el("span", { class: "rank" }, name), verdict(network)),
    el(
      "p",
      { class: "network-facts" },
      network.ranks.map((rank) => rankReason(rank, network, cell)).join("; "),
    ),
    picture
      ? [
          picture.element,
          facts(network),
          network.history.length ? sculptedHistory(network.history, picture.show) : null,
        ]
      : el(
          "div",
          { class: "no-routing" },
          hasLearned(network)
            ? "There is no drawing of it."
            : `The dense network gets ${measured(network.accuracy, "%", 1)} of the bits right.`,
        ),
    el(
      "p",
      { class: "settings" },
      `seed ${network.seed}, ${plural(network.epochs, "epoch")} for each training; run ${network.id}`,
      network.command ? el("code", { class: "command" }, network.command) : null,
    ),
  );
}

function trialsOf({ trials, learned }: SculptedCell): string {
  return learned === trials ? plural(trials, "trial") : `the ${count(learned)} of ${plural(trials, "trial")} that learned`;
}

function taskCard(task: Task | undefined, cell: SculptedCell): HTMLElement {
  return el(
    "article",
    { class: "network sculpted-task", "aria-label": "The task" },
    el("header", {}, el("span", { class: "rank" }, "the task")),
    task?.about ? el("p", { class: "network-facts" }, prose(task.about)) : null,
    task ? taskPicture(task) : null,
    el(
      "p",
      { class: "sculpted-share" },
      isNumber(cell.true_modules)
        ? [
            el("strong", {}, measured(cell.true_modules, "%", 1)),
            ` of the tied networks have the true modules, on average over ${trialsOf(cell)}.`,
          ]
        : `${plural(cell.trials, "trial")}, ${count(cell.learned)} of which learned.`,
    ),
  );
}

export function sculptedSection(report: Report): HTMLElement {
  const lede = "What is left of single networks, beside the graph of their task, and how they were pruned.";
  const section = hasTrained(report) ? networksSection(lede, "pruned", "Pruned networks") : networksSection(lede);
  const cells = sculptedCells(report.sculpted);
  if (!cells.length) {
    section.append(el("p", { class: "nothing" }, "There are no networks to show yet."));
    return section;
  }
  const row = el("div", { class: "networks networks-sculpted" });
  const show = (chosen: SculptedCell[]): void =>
    clear(
      row,
      chosen.map((cell) => [
        taskCard(
          report.tasks.find((task) => task.name === cell.task),
          cell,
        ),
        cell.networks.map((network) => networkCard(network, cell)),
      ]),
    );
  // One that shows success and failure side by side.
  const telling = cells.find((cell) => cell.networks.length > 2) ?? cells.find((cell) => cell.networks.length > 1);
  section.append(
    cellChooser(cells, "Series", telling, show),
    el("p", { class: "routing-key" }, sculptedKey()),
    row,
    el("p", { class: "curve-key" }, historyKey()),
  );
  return section;
}
