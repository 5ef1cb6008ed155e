// How well a network does on each combination of digits, and which of them it was trained on.
import { makeWalkable } from "./cell_walk";
import type { Cells } from "./cell_walk";
import { combinationBars } from "./combination_bars";
import type { Child } from "./dom";
import { el } from "./dom";
import { count, measured } from "./format";
import { kParts, partName } from "./image_details";
import { inBothLooks, rampColour } from "./palette";
import type { Combination, ImageDetails } from "./report";
import { isNumber } from "./report";
import { filledInBothThemes } from "./swatch";
import { fact } from "./tooltip";

const kLowest = 50; // percent; what is lower, is as bad
const kListed = 5;
const kSampleAccuracy = 90; // of the legend's squares

function colour(accuracy: number): string {
  return filledInBothThemes(inBothLooks((look) => rampColour(look, (accuracy - kLowest) / (100 - kLowest))));
}

function mean(values: number[]): number | null {
  return values.length ? values.reduce((sum, value) => sum + value, 0) / values.length : null;
}

// Whole percent, and 100 only if nothing is wrong.
function percent(accuracy: number): string {
  return String(Math.floor(accuracy));
}

function gridCell(digits: number[], found: Combination | undefined, large: boolean, cells: Cells): HTMLElement {
  const accuracy = found?.accuracy ?? null;
  const part = found ? partName(found.part) : "not in this study";
  const cell = el(
    "td",
    {
      class: `${isNumber(accuracy) ? "filled" : "empty"}${found ? ` combination part-${found.part}` : ""}`,
      style: isNumber(accuracy) ? colour(accuracy) : null,
      "aria-label": `${digits.join(" ")}: ${part}, ${measured(accuracy, "%")}`,
    },
    large ? (isNumber(accuracy) ? percent(accuracy) : "–") : null,
  );
  cells.set(cell, () => [
    el("div", { class: "point-place" }, `digits ${digits.join(" ")}`),
    fact("part", part),
    fact("accuracy", el("strong", {}, measured(accuracy, "%"))),
  ]);
  return cell;
}

// The last two digits of the combinations that begin with `first`: one down, one across.
function grid(
  first: number[],
  details: ImageDetails,
  find: (digits: number[]) => Combination | undefined,
  cells: Cells,
) {
  const digits = Array.from({ length: details.digits }, (_, digit) => digit);
  const large = !first.length;
  return el(
    "table",
    { class: `cells combination-cells${large ? "" : " combination-cells-small"}` },
    el("caption", {}, large ? "image 1 down, image 2 across" : `image 1: ${first.join(" ")}`),
    el(
      "thead",
      {},
      el(
        "tr",
        {},
        el("td"),
        digits.map((digit) => el("th", { scope: "col" }, digit)),
      ),
    ),
    el(
      "tbody",
      {},
      digits.map((down) =>
        el(
          "tr",
          {},
          el("th", { scope: "row" }, down),
          digits.map((across) => gridCell([...first, down, across], find([...first, down, across]), large, cells)),
        ),
      ),
    ),
  );
}

// What the frames mean, with how many there are of each and how well they do.
function legend(combinations: Combination[]): HTMLElement {
  return el(
    "ul",
    { class: "combination-key" },
    kParts.map(({ part, name, about }) => {
      const members = combinations.filter((one) => one.part === part);
      const known = members.map((one) => one.accuracy).filter(isNumber);
      return el(
        "li",
        { title: about },
        el("span", {
          class: `combination-sample filled combination part-${part}`,
          style: colour(kSampleAccuracy),
          "aria-hidden": "true",
        }),
        el("span", {}, name, el("span", { class: "combination-count" }, ` ${count(members.length)}`)),
        el("strong", {}, members.length ? measured(mean(known), "%", 1) : "–"),
      );
    }),
  );
}

function ramp(): HTMLElement {
  const steps = 24;
  return el(
    "p",
    { class: "combination-ramp" },
    `${kLowest} % or less`,
    el(
      "span",
      { class: "ramp", "aria-hidden": "true" },
      Array.from({ length: steps }, (_, at) =>
        el("span", { class: "filled", style: colour(kLowest + ((100 - kLowest) * at) / (steps - 1)) }),
      ),
    ),
    "100 %",
  );
}

function lowest(combinations: Combination[]): Child {
  const unseen = combinations
    .filter((one) => one.part === "unseen" && isNumber(one.accuracy) && one.accuracy < 100)
    .sort((one, other) => (one.accuracy ?? 0) - (other.accuracy ?? 0))
    .slice(0, kListed);
  return unseen.length
    ? el(
        "p",
        { class: "combination-lowest" },
        "Lowest unseen: ",
        unseen.map((one, at) => [
          at ? ", " : "",
          el("span", {}, el("strong", {}, one.digits.join(" ")), ` (${measured(one.accuracy, "%", 1)})`),
        ]),
      )
    : null;
}

function grids(details: ImageDetails): HTMLElement {
  const byDigits = new Map(details.combinations.map((one) => [one.digits.join(), one]));
  const find = (digits: number[]): Combination | undefined => byDigits.get(digits.join());
  const firsts = details.images === 2 ? [[]] : Array.from({ length: details.digits }, (_, digit) => [digit]);
  const cells: Cells = new Map();
  const element = el(
    "div",
    {
      class: "combination-grids",
      role: "group",
      "aria-label": "Accuracy of each combination of digits. Arrow keys go from cell to cell.",
    },
    firsts.map((first) => grid(first, details, find, cells)),
  );
  makeWalkable(element, cells);
  return element;
}

// A grid for pairs, a grid of grids for triples; of more images there are too many combinations to draw one by one.
export function combinationPart(details: ImageDetails): HTMLElement {
  const part = el("section", { class: "image-part combinations" }, el("h4", {}, "Digit combinations"));
  if (!details.combinations.length) {
    part.append(el("p", { class: "note" }, "No combinations were recorded."));
    return part;
  }
  const drawn = details.images === 2 || details.images === 3;
  part.append(legend(details.combinations));
  if (details.images > 2) {
    part.append(combinationBars(details.combinations));
  }
  if (drawn) {
    part.append(grids(details), ramp());
  }
  const words = [
    details.images === 3 ? "Image 2 down, image 3 across." : "",
    "Percent of right bits, with images that were not trained on.",
  ];
  part.append(el("p", { class: "note" }, words.join(" ").trim()));
  if (details.images > 2) {
    part.append(...[lowest(details.combinations)].filter((one) => one instanceof Node));
  }
  return part;
}
