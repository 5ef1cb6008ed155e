// How to read all this.
import { el } from "./dom";
import type { Child } from "./dom";
import type { Report } from "./report";
import { drawnWords, hasMasks, hasMixtures, hasSculpted, hasSplits, hasTrained } from "./report";

function item(name: string, ...words: string[]): HTMLElement[] {
  return [el("dt", {}, name), el("dd", {}, words.join(" "))];
}

// Whether networks were measured by how they use their modules.
function measuresUse(report: Report): boolean {
  return report.figures.some((figure) => figure.measures.some((measure) => measure.name === "collapse_avg"));
}

function errorItems(report: Report): Child {
  const many = drawnWords(report);
  return [
    item(
      `Error within ${many}`,
      `Standard error over training seeds while the ${report.drawn} stays the same, combined over ${many}:`,
      "what other seeds would change.",
    ),
    item(
      `Error between ${many}`,
      `Standard error of the means of the ${many}: what other ${many} would change. With few`,
      "of them it is itself only roughly known.",
    ),
  ];
}

function useItems(): Child {
  return [
    item(
      "Loss and error",
      "On fresh samples that no network has seen: the mean absolute error, or the share of wrong classes. Out of",
      "distribution inputs are doubled, and sequences longer. Lower is better.",
    ),
    item(
      "Contests",
      "Models meet where everything else is the same, task seed included. The best mean over training seeds has the",
      "vote; where the best are equal nobody has it, and it is shown as a tie.",
    ),
    item(
      "Collapse",
      "How much of its fair share of use modules lack, on average, and the least used one: 0 where all are used alike, 1",
      "where one does everything.",
    ),
    item(
      "Alignment, adaptation, information",
      "Whether each rule has a module of its own. Alignment is the use outside the best pairing of rules with modules;",
      "adaptation is how far module use is from rule frequencies as these change; inverse mutual information is 1 where",
      "the rule says nothing of the module. 0 is best. The dashed line is what random gates have, by the formulas.",
    ),
  ];
}

function trainedItems(report: Report): Child {
  if (measuresUse(report)) {
    return [useItems(), errorItems(report)];
  }
  return [
    item(
      "Accuracy",
      "The share of output bits that are right, at the first epoch with the best validation accuracy. The",
      "dashed line is what guessing reaches: always the same answer, on the very rows that are judged. A curve near it",
      "has learned nothing.",
    ),
    report.gallery.some((network) => network.images)
      ? item(
          "Seen and unseen",
          "Networks on images learn from some combinations of digits. Seen accuracy is on the combinations that were",
          "trained on, with images that were not; unseen accuracy is on combinations that were never trained on: a",
          "network that reads each digit for itself does as well on them.",
        )
      : null,
    item(
      "Selection",
      "Settings are chosen by validation accuracy alone, averaged over training seeds, and separately for",
      "each task, architecture, ratio and split. Test accuracy is looked at once, afterwards. When several",
      "configurations tie, the table of chosen settings says how many.",
    ),
    errorItems(report),
  ];
}

function wiringItems(): Child {
  return [
    item(
      "Wiring",
      "Modules are matched to the gates of the true function, level by level, so that the fewest edits turn",
      "one graph into the other; adding or removing an edge or a module counts as one edit. The correlation",
      "r compares a module’s output with its gate’s over the whole truth table; −1 means that the module",
      "computes the complement, which is just as good. Surplus modules have no gate left to match.",
    ),
    item(
      "Colours",
      "One look for each architecture, in every chart: ink and greys for networks without modules, warm",
      "colours for modules with weights of their own, cool ones for shared modules. Lines and points differ",
      "in dash and shape as well.",
    ),
  ];
}

function sculptedItems(): Child {
  return [
    item(
      "Trials",
      "A trial trains one dense network and prunes it in every way that the grid of first steps offers: first units,",
      "then edges, each step followed by training, as long as every bit of the truth table stays right. The networks",
      "with the fewest edges win; often several are tied.",
    ),
    item(
      "True modules",
      "Units of a layer that reach the same later units form clusters, clusters of neighbouring layers that are wired",
      "to each other alone form modules. The share of tied networks whose modules are those of the task leaves ties",
      "open. Optimistic counts a trial if one of its networks has them, as if someone had chosen; pessimistic only if",
      "all have.",
    ),
    item(
      "Learned",
      "A dense network that does not get all bits right is not pruned, and the shares of networks leave it out.",
    ),
    item("Error over seeds", "Standard error over the seeds of a cell: what other seeds would change."),
    item(
      "Networks",
      "Inputs are at the bottom, outputs on top. An area is a module that was found, in the colour of the true one",
      "whose inputs or outputs it has; a star says that it has only a part of them, a plus that it joins several.",
      "Dead units, which no path from an input to an output passes through, are dots. The slider goes back through",
      "the pruning: then units that are still to go are dots as well, and areas show what will be left.",
    ),
  ];
}

function mixtureItems(): Child {
  return [
    item(
      "Loss",
      "The mean absolute error of numbers, or the cross-entropy of classes, on samples that were never seen: every",
      "training step and every test draws new ones.",
    ),
    item(
      "Module use",
      "How much each module counts where a rule applies, averaged over samples. The oracle’s gates are the rule itself;",
      "learned gates are trained with the rest; uniform gates, for which nothing is trained, know nothing of the rule.",
    ),
    item(
      "Collapse",
      "Some modules do most of the work. Average: the share of all use that modules lack to an equal one. Worst: the",
      "same of the least used module.",
    ),
    item(
      "Specialisation",
      "Alignment: how much use lies outside the best pairing of rules with modules. Adaptation: how far module use is",
      "from the frequencies of rules as these change. Inverse mutual information: how little the module tells of the",
      "rule. All are 0 where each rule has a module of its own.",
    ),
  ];
}

function maskItems(): Child {
  return [
    item(
      "Masks",
      "A network is trained and frozen. For each target, a function that it computes, a mask is trained that keeps the",
      "weights which the target needs and as few others as possible. The control is trained on everything: if it",
      "loses much, what masks leave out means nothing. All but a mask is the network without what the mask keeps.",
    ),
    item(
      "IoU and IoMin",
      "What two masks both keep, of what any of them keeps, and of what the smaller keeps; of several targets the mean",
      "over pairs. The upright mark is what random masks that keep as many weights would share. Trained again: IoU of a",
      "mask with itself from other noise; what is below it is no difference.",
    ),
    item(
      "Pictures",
      "An edge or a cell is a weight. Its colour says which target alone keeps it; what several keep is shared, thick and",
      "in ink. Targets have dashes and numbers as well, and the buttons above leave one of them. Hidden units stand in",
      "the order of the targets that use them. Of large networks a cell is a block of weights: the stronger its colour,",
      "the more of them are kept.",
    ),
    item(
      "Chance to keep",
      "A mask draws each weight anew in every training step, with a chance of its own; in the end it keeps those above a",
      "half. Weights between 5 and 95 % are undecided.",
    ),
    item(
      "Answers",
      "Of sums and products: which operation’s result is given where one is asked for. Results that both operations have",
      "count for both.",
    ),
  ];
}

export function readingSection(report: Report): HTMLElement {
  return el(
    "section",
    { id: "reading", class: "section", "aria-labelledby": "reading-title" },
    el("h2", { id: "reading-title" }, "How to read this page"),
    el(
      "dl",
      { class: "reading" },
      hasTrained(report) ? trainedItems(report) : null,
      hasSculpted(report) ? sculptedItems() : null,
      hasMixtures(report) ? mixtureItems() : null,
      hasMasks(report) ? maskItems() : null,
      item(
        "Claims",
        "Each sentence is written down as one or more checks, with what is measured and what is expected; the mark in",
        "a picture is where that begins. What was drawn at random is the unit:",
        hasSplits(report)
          ? `the number of each ${report.drawn}, averaged over its training seeds, or of each trial where there are no ${drawnWords(report)}.`
          : "each trial.",
        `Intervals have a level of ${Math.round(100 * report.level)} %: by Student’s t of fewer than ten units, from ten on`,
        "by a bootstrap of t. p is one-sided: how likely data like these are if the expectation is wrong. A check holds",
        "if its interval lies where it is expected, fails if it lies elsewhere, and is undecided in between.",
        hasSplits(report)
          ? `Over ${drawnWords(report)} it needs at least five of them; “on these ${drawnWords(report)}” allows for other seeds, but not for other ${drawnWords(report)}.`
          : "",
        "A claim holds if all of its checks do, and fails if one fails by more than chance makes one of so many fail.",
        "Measures that span orders of magnitude are compared as factors (×).",
      ),
      hasTrained(report) && !measuresUse(report) ? wiringItems() : null,
    ),
    el(
      "footer",
      { class: "colophon" },
      `modlab ${report.version}`.trim(),
      " · study ",
      el("code", {}, report.study),
      report.preset && [" · preset ", el("code", {}, report.preset)],
      ". This page holds all of its data and needs no network.",
    ),
  );
}
