// How those who keep a weight look: each target alone, and several of them together. Each has a colour, a dash and a
// number; the key is also a switch that leaves one of them in the pictures.
import { el } from "./dom";
import { kPool, kSeveral } from "./palette";
import { filledInBothThemes, lineSwatch } from "./swatch";

export interface Keeper {
  name: string;
  light: string;
  dark: string;
  dash: number[];
  mark: string; // what stands for it where there is little room
}

const kDashes: number[][] = [[], [5, 2.5], [1.5, 2], [8, 2, 2, 2], [3, 1.5]];

// The targets, and last several of them.
export function keepersOf(targets: string[]): Keeper[] {
  const alone = targets.map((target, at) => ({
    ...(kPool[at % kPool.length] ?? kSeveral),
    name: `${target} alone`,
    dash: kDashes[at % kDashes.length] ?? [],
    mark: String(at + 1),
  }));
  return targets.length > 1 ? [...alone, { ...kSeveral, name: "shared", dash: [], mark: "+" }] : alone;
}

// `chosen` is the place of a keeper, or -1 for all.
export function keeperKey(keepers: Keeper[], chosen: number, choose: (at: number) => void): HTMLElement {
  const buttons: HTMLElement[] = [];
  const press = (at: number): void => {
    buttons.forEach((button, place) => button.setAttribute("aria-pressed", String(place - 1 === at)));
    choose(at);
  };
  const button = (at: number, ...contents: (Node | string)[]): HTMLElement =>
    el("button", { type: "button", "aria-pressed": String(at === chosen), click: () => press(at) }, contents);
  buttons.push(
    button(-1, "all"),
    ...keepers.map((keeper, at) =>
      button(
        at,
        lineSwatch(keeper, keeper.mark === "+" ? 3 : 2),
        el(
          "span",
          { class: "keeper-mark filled", style: filledInBothThemes(keeper), "aria-hidden": "true" },
          keeper.mark,
        ),
        keeper.name,
      ),
    ),
  );
  return el("div", { class: "keeper-key", role: "group", "aria-label": "Weights that are shown: kept by" }, buttons);
}
