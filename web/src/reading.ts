// How to read all this.
import { el } from "./dom";
import type { Child } from "./dom";
import type { Report } from "./report";
import { hasSculpted, hasTrained } from "./report";

function item(name: string, ...words: string[]): HTMLElement[] {
  return [el("dt", {}, name), el("dd", {}, words.join(" "))];
}

function trainedItems(report: Report): Child {
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
    item(
      "Error within splits",
      "Standard error over training seeds while the split of the rows stays the same, combined over splits:",
      "what other seeds would change.",
    ),
    item(
      "Error between splits",
      "Standard error of the split means: what another choice of training rows would change. With few",
      "splits it is itself only roughly known.",
    ),
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
      item(
        "Claims",
        "Each sentence is written down as one or more checks, with what is measured and what is expected; the mark in",
        "a picture is where that begins. What was drawn at random is the unit:",
        hasTrained(report)
          ? "the number of each split, averaged over its training seeds, or of each trial where there are no splits."
          : "each trial.",
        `Intervals have a level of ${Math.round(100 * report.level)} %: by Student’s t of fewer than ten units, from ten on`,
        "by a bootstrap of t. p is one-sided: how likely data like these are if the expectation is wrong. A check holds",
        "if its interval lies where it is expected, fails if it lies elsewhere, and is undecided in between.",
        hasTrained(report)
          ? "Over splits it needs at least five of them; “on these splits” allows for other seeds, but not for other rows."
          : "",
        "A claim holds if all of its checks do, and fails if one fails by more than chance makes one of so many fail.",
        "Measures that span orders of magnitude are compared as factors (×).",
      ),
      hasTrained(report) ? wiringItems() : null,
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
