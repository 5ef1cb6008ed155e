// What a network that tells classes apart says under its masks, as heat maps: under the control mask which class is said
// for which, and under every other mask how much more or less often than under the control.
import { el } from "./dom";
import { measured } from "./format";
import type { ShownMask, ShownMasked } from "./mask_details";
import { kDifferences, percentMap } from "./percent_map";
import type { PercentRow } from "./percent_map";
import { fact } from "./tooltip";

// Names have room beside rows; columns are numbered as rows are.
const numbered = (name: string, at: number): string => `${at} ${name}`;

function rowsOf(network: ShownMasked, mask: ShownMask, table: number[][], control: number[][] | null): PercentRow[] {
  return network.classes.map((right, row) => ({
    name: numbered(right, row),
    values: network.classes.map((_, said) => (table[row]?.[said] ?? 0) - (control?.[row]?.[said] ?? 0)),
    says: (said) => `${right}, called ${network.classes[Number(said)] ?? ""}, mask ${mask.name}`,
    facts: (said) =>
      control
        ? [
            fact("share", measured(table[row]?.[said] ?? null, "%", 1)),
            fact("under the control mask", measured(control[row]?.[said] ?? null, "%", 1)),
          ]
        : [],
  }));
}

export function classMaps(network: ShownMasked): HTMLElement | null {
  const [first, ...others] = network.masks;
  const control = first?.classConfusion;
  if (!first || !control) {
    return null;
  }
  const columns = network.classes.map((_, at) => String(at));
  const differing = others.flatMap((mask) =>
    mask.classConfusion
      ? [
          el(
            "figure",
            {},
            el("figcaption", {}, `mask ${mask.name}, difference`),
            percentMap(
              `mask ${mask.name}: how much more often each class is said than under the control mask, in points.`,
              "right",
              columns,
              rowsOf(network, mask, mask.classConfusion, control),
              kDifferences,
            ),
          ),
        ]
      : [],
  );
  return el(
    "div",
    { class: "class-maps" },
    el(
      "p",
      { class: "mask-part" },
      "classes, % of what is right (down) by what is said (across); of other masks than the control, points above it in blue and below it in orange (strengths are roots)",
    ),
    el(
      "div",
      { class: "answer-grid" },
      el(
        "figure",
        {},
        el("figcaption", {}, `mask ${first.name}`),
        percentMap(
          `mask ${first.name}: what is said of each class, in percent.`,
          "right",
          columns,
          rowsOf(network, first, control, null),
        ),
      ),
      differing,
    ),
  );
}
