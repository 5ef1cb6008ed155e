// What masks share, tensor by tensor: a bar for each, with a mark at what random masks would share.
import { makeWalkable } from "./cell_walk";
import type { Cells } from "./cell_walk";
import { el } from "./dom";
import { count } from "./format";
import type { ShownMasked, ShownTensor } from "./mask_details";
import { tensorName } from "./mask_details";
import type { Sharing } from "./report";
import { fact } from "./tooltip";

const kMeasures = [
  { value: "iou", chance: "iou_chance", name: "IoU" },
  { value: "iomin", chance: "iomin_chance", name: "IoMin" },
] as const;

const kLetter = 6.3; // pixels
const kWidestName = 140;

function bar(value: number, chance: number): HTMLElement {
  return el(
    "span",
    { class: "sharing-bar", "aria-hidden": "true" },
    el("span", { class: "sharing-value", style: `width:${(100 * value).toFixed(1)}%` }),
    el("span", { class: "sharing-chance", style: `left:${(100 * chance).toFixed(1)}%` }),
  );
}

export function sharingBars(network: ShownMasked): HTMLElement | null {
  const rows: { name: string; sharing: Sharing; tensor: ShownTensor | null }[] = network.tensors.flatMap((tensor) =>
    tensor.sharing ? [{ name: tensorName(tensor.name), sharing: tensor.sharing, tensor }] : [],
  );
  if (network.sharing) {
    rows.push({ name: "all", sharing: network.sharing, tensor: null });
  }
  if (!rows.length) {
    return null;
  }
  const cells: Cells = new Map();
  const table = el(
    "table",
    {
      class: "sharing-bars",
      style: `--names:${Math.min(Math.max(...rows.map(({ name }) => name.length)) * kLetter + 8, kWidestName)}px`,
      "aria-label": "What two masks share, by tensor. Arrow keys go from bar to bar.",
    },
    el(
      "thead",
      {},
      el(
        "tr",
        {},
        el("th", { scope: "col" }, "shared"),
        kMeasures.map(({ name }) => el("th", { scope: "col" }, name)),
      ),
    ),
    el(
      "tbody",
      {},
      rows.map(({ name, sharing, tensor }) =>
        el(
          "tr",
          { class: tensor ? null : "sharing-all" },
          el("th", { scope: "row", title: name }, name),
          kMeasures.map((measure) => {
            const [value, chance] = [sharing[measure.value], sharing[measure.chance]];
            const cell = el(
              "td",
              { "aria-label": `${name}, ${measure.name} ${value.toFixed(3)}, by chance ${chance.toFixed(3)}` },
              bar(value, chance),
              el("span", { class: "sharing-number" }, value.toFixed(2)),
            );
            cells.set(cell, () => [
              el("div", { class: "point-place" }, tensor ? name : "all tensors"),
              fact(measure.name, value.toFixed(3)),
              fact("by chance", chance.toFixed(3)),
              tensor
                ? network.masks.map((mask, at) =>
                    fact(`${mask.name} keeps`, `${count(tensor.kept[at] ?? 0)} of ${count(tensor.weights)}`),
                  )
                : null,
            ]);
            return cell;
          }),
        ),
      ),
    ),
  );
  makeWalkable(table, cells);
  return table;
}
