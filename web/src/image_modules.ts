// What an image module says to each digit: its outputs down, the digits across.
import { makeWalkable } from "./cell_walk";
import type { Cells } from "./cell_walk";
import { el } from "./dom";
import { compact, plural } from "./format";
import { divergingColour, inBothLooks } from "./palette";
import type { ImageDetails, ImageModule } from "./report";
import { isNumber } from "./report";
import { filledInBothThemes } from "./swatch";
import { fact } from "./tooltip";

const kLeastRange = 0.05; // of the module's widest row; a row that varies less stays pale

function spanOf(row: (number | null)[]): { middle: number; range: number } {
  const values = row.filter(isNumber);
  const [low, high] = values.length ? [Math.min(...values), Math.max(...values)] : [0, 0];
  return { middle: (low + high) / 2, range: high - low };
}

// As many digits as a cell has room for.
function short(value: number): string {
  const size = Math.abs(value);
  return size < 0.005 ? "0" : size < 100 ? value.toFixed(size < 10 ? 2 : 1).replace("-", "−") : compact(value, 2);
}

// The digit's bits, which is what a module should say.
function bitsOf(digit: number, digits: number): string {
  return digit.toString(2).padStart(Math.ceil(Math.log2(Math.max(digits, 2))), "0");
}

function table(module: ImageModule, details: ImageDetails, cells: Cells): HTMLElement {
  const digits = Array.from({ length: details.digits }, (_, digit) => digit);
  const spans = module.means.map(spanOf);
  const widest = Math.max(...spans.map((span) => span.range), 0);
  return el(
    "table",
    { class: "cells module-cells" },
    el("caption", { class: "unseen" }, `${module.name}: mean of each output for each digit`),
    el(
      "thead",
      {},
      el(
        "tr",
        {},
        el("td"),
        digits.map((digit) =>
          el(
            "th",
            { scope: "col" },
            digit,
            el("span", { class: "digit-bits", "aria-hidden": "true" }, bitsOf(digit, details.digits)),
          ),
        ),
      ),
    ),
    el(
      "tbody",
      {},
      module.means.map((row, output) => {
        const { middle, range } = spans[output] ?? { middle: 0, range: 0 };
        const half = Math.max(range, kLeastRange * widest) / 2;
        return el(
          "tr",
          {},
          el("th", { scope: "row" }, el("span", { class: "unseen" }, "output "), output + 1),
          digits.map((digit) => {
            const mean = row[digit];
            const cell = isNumber(mean)
              ? el(
                  "td",
                  {
                    class: "filled",
                    style: filledInBothThemes(
                      inBothLooks((look) => divergingColour(look, half > 0 ? 0.5 + (mean - middle) / half / 2 : 0.5)),
                    ),
                  },
                  short(mean),
                )
              : el("td", { class: "empty" }, "–");
            cells.set(cell, () => [
              el("div", { class: "point-place" }, `${module.name}, output ${output + 1}`),
              fact(`digit ${digit} (${bitsOf(digit, details.digits)})`, isNumber(mean) ? compact(mean) : "no mean"),
              fact("from its lowest to its highest", range > 0 ? compact(range) : "no difference"),
            ]);
            return cell;
          }),
        );
      }),
    ),
  );
}

function moduleCard(module: ImageModule, details: ImageDetails, cells: Cells): HTMLElement {
  return el(
    "div",
    { class: "image-module" },
    el(
      "p",
      { class: "image-module-head" },
      el("strong", {}, module.name),
      el(
        "span",
        {
          title:
            "Mean absolute correlation of its outputs with the bits of the digit, each bit with an output of its own",
        },
        "specialisation ",
        el("strong", {}, isNumber(module.specialisation) ? module.specialisation.toFixed(2) : "–"),
      ),
    ),
    module.reads ? el("p", { class: "note" }, `reads ${module.reads}`) : null,
    module.means.length && details.digits
      ? table(module, details, cells)
      : el("p", { class: "note" }, "Its outputs were not recorded."),
  );
}

export function imageModules(details: ImageDetails, modular: boolean): HTMLElement {
  const part = el("section", { class: "image-part image-modules" }, el("h4", {}, "Image modules"));
  if (!details.modules.length) {
    part.append(
      el(
        "p",
        { class: "note" },
        modular
          ? "What its image modules say was not recorded."
          : "A network without modules reads all images at once.",
      ),
    );
    return part;
  }
  const cells: Cells = new Map();
  const modules = el(
    "div",
    {
      role: "group",
      "aria-label": `Mean outputs of ${plural(details.modules.length, "image module")}. Arrow keys go from cell to cell.`,
    },
    details.modules.map((module) => moduleCard(module, details, cells)),
  );
  makeWalkable(modules, cells);
  part.append(
    modules,
    el(
      "p",
      { class: "note" },
      "Mean of each output (down) for test images of each digit (across, with its bits). Each row is coloured from its lowest mean (orange) over the middle of its range to its highest (blue).",
    ),
  );
  return part;
}
