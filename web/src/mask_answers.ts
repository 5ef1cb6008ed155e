// What a network does under its masks, as heat maps: how often each target is right, which operation's result is given
// where one is asked for, and what a mask takes over from those of earlier targets.
import { el } from "./dom";
import { measured } from "./format";
import type { ShownMasked } from "./mask_details";
import { tensorName } from "./mask_details";
import { percentMap } from "./percent_map";
import { isNumber } from "./report";
import { fact } from "./tooltip";

export function accuracyMap(network: ShownMasked): HTMLElement | null {
  if (!network.masks.length) {
    return null;
  }
  return percentMap("How often each target is right, in percent.", "right, %", network.targets, [
    { name: "no mask", values: network.unmasked, says: (target) => `${target} without a mask` },
    ...network.masks.flatMap((mask) => [
      {
        name: `mask ${mask.name}`,
        values: mask.accuracy,
        says: (target: string) => `${target} under the mask of ${mask.name}`,
        facts: () =>
          isNumber(mask.untrained) ? [fact("on an untrained network", measured(mask.untrained, "%", 1))] : [],
      },
      {
        name: `all but ${mask.name}`,
        values: mask.inverse,
        says: (target: string) => `${target} without what the mask of ${mask.name} keeps`,
      },
    ]),
  ]);
}

// One for each mask, and one for what each leaves out.
export function answerMaps(network: ShownMasked): HTMLElement | null {
  const answers = [...network.targets, "neither"];
  const maps = network.masks
    .flatMap((mask) => [
      { name: `mask ${mask.name}`, shares: mask.confusion },
      { name: `all but ${mask.name}`, shares: mask.inverseConfusion },
    ])
    .flatMap(({ name, shares }) =>
      shares
        ? [
            el(
              "figure",
              {},
              el("figcaption", {}, name),
              percentMap(
                `${name}: answers to each question, in percent.`,
                "asked",
                answers,
                shares.map((row, asked) => ({
                  name: network.targets[asked] ?? "",
                  values: row,
                  says: (answer) => `asked for ${network.targets[asked]}, answered with ${answer}, ${name}`,
                })),
              ),
            ),
          ]
        : [],
    );
  return maps.length
    ? el(
        "div",
        { class: "answer-maps" },
        el("p", { class: "mask-part" }, "answers, % of what is asked (down) by what is given (across)"),
        el("div", { class: "answer-grid" }, maps),
      )
    : null;
}

// Where targets follow each other: of each mask, tensor by tensor.
export function takenOverMap(network: ShownMasked): HTMLElement | null {
  const rows = network.tensors.filter((tensor) => tensor.earlier.some(Boolean));
  if (!rows.length) {
    return null;
  }
  const later = network.targets.map((_, at) => at).filter((at) => rows.some((tensor) => tensor.earlier[at]));
  const names = later.map((at) => network.targets[at] ?? "");
  return percentMap(
    "Of what a mask keeps, what earlier ones keep too, in percent.",
    "taken over, %",
    names,
    rows.map((tensor) => ({
      name: tensorName(tensor.name),
      values: later.map((at) => {
        const taken = tensor.earlier[at];
        return taken ? 100 * taken.shared : null;
      }),
      says: (target: string) => `${tensorName(tensor.name)}: of the mask of ${target}, what earlier ones keep too`,
      facts: (column: number) => {
        const taken = tensor.earlier[later[column] ?? -1];
        return taken ? [fact("by chance", measured(100 * taken.by_chance, "%", 1))] : [];
      },
    })),
  );
}
