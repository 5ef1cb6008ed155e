// How much each module counts where each rule applies, as a heat map.
import { makeWalkable } from "./cell_walk";
import type { Cells } from "./cell_walk";
import { el } from "./dom";
import { count, measured, plural } from "./format";
import type { Moment, ShownMixture } from "./mixture_details";
import { inBothLooks, rampColour } from "./palette";
import { isNumber } from "./report";
import { filledInBothThemes } from "./swatch";
import { fact } from "./tooltip";

const kWritten = 8; // modules, whose cells have room for a number
const kNamed = 12; // modules or rules, all of which have room for their number
const kWidest = 46; // pixels of a cell

export interface MatrixView {
  element: HTMLElement;
  show: (moment: Moment, byRule: boolean) => void;
}

const styles = Array.from({ length: 101 }, (_, percent) =>
  filledInBothThemes(inBothLooks((look) => rampColour(look, percent / 100))),
);
const styleOf = (share: number): string => styles[Math.round(100 * share)] ?? "";

// Of many, the first and then every eighth.
function isNamed(at: number, of: number): boolean {
  return of <= kNamed || at % 8 === 0;
}

export function matrixView(network: ShownMixture, rules: number): MatrixView {
  const { modules } = network;
  const places = Array.from({ length: modules }, (_, place) => place);
  let now: Moment | undefined;
  let order = places; // the module at each place
  const moduleAt = (place: number): number => order[place] ?? place;
  const shareAt = (rule: number, place: number): number | null =>
    now?.shares?.[rule * modules + moduleAt(place)] ?? null;
  const where = (rule: number, place: number): string => `rule ${rule + 1}, module ${moduleAt(place) + 1}`;

  const names = places.map(() => el("span", { class: "matrix-name matrix-column" }));
  const cells: Cells = new Map();
  const rows = Array.from({ length: rules }, (_, rule) =>
    places.map((place) => {
      const cell = el("div", { class: "matrix-cell", role: "img" });
      cells.set(cell, () => {
        const share = shareAt(rule, place);
        return [
          el("div", { class: "point-place" }, where(rule, place)),
          fact("counts for", isNumber(share) ? measured(100 * share, "%", 1) : "not known"),
          fact("before iteration", count(now?.iteration ?? 0)),
        ];
      });
      return cell;
    }),
  );
  const grid = el(
    "div",
    {
      class: `matrix${modules > kNamed ? " matrix-dense" : ""}`,
      style: `--columns:${modules};max-width:${kWidest * modules + 20}px`,
      role: "group",
      "aria-label": `${network.name}: use of ${plural(modules, "module")} (across) by ${plural(rules, "rule")} (down). Arrow keys go from cell to cell.`,
    },
    el("span"),
    names,
    rows.map((row, rule) => [el("span", { class: "matrix-name" }, isNamed(rule, rules) ? rule + 1 : ""), row]),
  );
  makeWalkable(grid, cells);

  return {
    element: grid,
    show: (moment, byRule) => {
      now = moment;
      order = byRule ? network.order : places;
      names.forEach((name, place) => (name.textContent = isNamed(place, modules) ? String(moduleAt(place) + 1) : ""));
      rows.forEach((row, rule) =>
        row.forEach((cell, place) => {
          const share = shareAt(rule, place);
          cell.classList.toggle("filled", isNumber(share));
          cell.setAttribute("style", isNumber(share) ? styleOf(share) : "");
          cell.setAttribute(
            "aria-label",
            `${where(rule, place)}: ${isNumber(share) ? measured(100 * share, "%", 1) : "not known"}`,
          );
          if (modules <= kWritten) {
            cell.textContent = isNumber(share) ? String(Math.round(100 * share)) : "–";
          }
        }),
      );
    },
  };
}

export function matrixKey(): HTMLElement[] {
  const steps = 24;
  return [
    el("span", {}, "Rules down, modules across"),
    el(
      "span",
      {},
      "counts for 0\u202f%",
      el(
        "span",
        { class: "ramp matrix-ramp", "aria-hidden": "true" },
        Array.from({ length: steps }, (_, at) => el("span", { class: "filled", style: styleOf(at / (steps - 1)) })),
      ),
      "100\u202f%",
    ),
    el("span", {}, "All measures: 0 is best"),
  ];
}
