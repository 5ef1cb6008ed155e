// The masks of a tensor as a matrix, in the colours of the targets that keep a weight: units down, inputs across.
import { el } from "./dom";
import type { Child } from "./dom";
import { count, measured } from "./format";
import type { ShownPicture, ShownTensor } from "./mask_details";
import { tensorName } from "./mask_details";
import type { Keeper } from "./mask_keepers";
import type { Look } from "./palette";
import { colourOf, mix } from "./palette";
import { look } from "./theme";
import { fact, hideTooltip, showTooltip } from "./tooltip";

const kWidest = 330; // pixels
const kHighest = 240;
const kLargestCell = 9;
const kNarrowest = 66; // with its name below it

export interface MaskMatrix {
  element: HTMLElement;
  show: (keeper: number) => void;
}

// So that all matrices of a network have cells of one size.
export function cellSize(tensors: ShownTensor[]): number {
  const most = (side: "across" | "down"): number => Math.max(1, ...tensors.map(({ picture }) => picture?.[side] ?? 0));
  return Math.min(kWidest / most("across"), kHighest / most("down"), kLargestCell);
}

const total = (shares: number[]): number => shares.reduce((sum, share) => sum + share, 0);

// Mixed by shares; the fuller a cell, the further from the paper. A root, since most cells are nearly empty.
function colourOfCell(shares: number[], keepers: Keeper[], most: number, theme: Look): string {
  const all = total(shares);
  if (!all) {
    return theme.empty;
  }
  let colour = "";
  let before = 0;
  shares.forEach((share, at) => {
    const keeper = keepers[at];
    if (share && keeper) {
      const own = colourOf({ ...keeper, shape: "none" }, theme);
      before += share;
      colour = colour ? mix(colour, own, share / before) : own;
    }
  });
  return mix(theme.empty, colour || theme.ink, 0.25 + 0.75 * Math.sqrt(all / most));
}

// The weights of a row or column of cells: "rows 1 to 42".
function span(name: string, at: number, of: number, size: number): string {
  const [first, end] = [Math.floor((at * size) / of), Math.floor(((at + 1) * size) / of)];
  return end - first > 1 ? `${name}s ${count(first + 1)} to ${count(end)}` : `${name} ${count(first + 1)}`;
}

// A name may go on in the next line behind its dots and underscores.
function breakable(name: string): Child[] {
  return name.split(/(?<=[._])/).flatMap((part) => [part, el("wbr")]);
}

export function maskMatrix(tensor: ShownTensor, picture: ShownPicture, keepers: Keeper[], size: number): MaskMatrix {
  const { rows, columns, down, across, cells } = picture;
  const isExact = down === rows && across === columns;
  const canvas = el("canvas", {
    width: across,
    height: down,
    style: `width:${across * size}px;height:${down * size}px`,
  });
  const cursor = el("span", { class: "mask-cursor", hidden: true });
  const shownShares = (at: number, chosen: number): number[] =>
    (cells[at]?.shares ?? []).map((share, keeper) => (chosen < 0 || chosen === keeper ? share : 0));
  const paper = el(
    "div",
    {
      class: "mask-paper",
      role: "img",
      tabindex: 0,
      "aria-label": `${tensorName(tensor.name)}, ${count(rows)} rows and ${count(columns)} columns of weights. Arrow keys go from cell to cell.`,
    },
    canvas,
    cursor,
  );

  let here = { row: 0, column: 0 };
  function say(row: number, column: number): void {
    here = { row, column };
    const cell = cells[row * across + column];
    const box = canvas.getBoundingClientRect();
    const [width, height] = [box.width / across, box.height / down];
    cursor.hidden = false;
    cursor.setAttribute(
      "style",
      `left:${column * width}px;top:${row * height}px;width:${Math.max(width, 3)}px;height:${Math.max(height, 3)}px`,
    );
    const kept = keepers.flatMap((keeper, at) =>
      cell?.shares[at] ? [fact(keeper.name, isExact ? "kept" : measured(100 * (cell.shares[at] ?? 0), "%", 1))] : [],
    );
    showTooltip(
      box.x + (column + 0.5) * width,
      box.y + row * height,
      el(
        "div",
        { class: "point-place" },
        `${span("row", row, down, rows)}, ${span("column", column, across, columns)}`,
      ),
      kept.length ? kept : fact("kept", "by none"),
    );
  }
  const leave = (): void => {
    cursor.hidden = true;
    hideTooltip();
  };
  const clamp = (value: number, of: number): number => Math.min(Math.max(value, 0), of - 1);
  paper.addEventListener("pointermove", (event) => {
    const box = canvas.getBoundingClientRect();
    say(
      clamp(Math.floor(((event.clientY - box.y) / box.height) * down), down),
      clamp(Math.floor(((event.clientX - box.x) / box.width) * across), across),
    );
  });
  paper.addEventListener("pointerleave", leave);
  paper.addEventListener("focus", () => {
    if (paper.matches(":focus-visible")) {
      say(here.row, here.column);
    }
  });
  paper.addEventListener("blur", leave);
  paper.addEventListener("keydown", (event) => {
    const [right, below] =
      { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key] ?? [];
    if (right !== undefined && below !== undefined) {
      event.preventDefault();
      say(clamp(here.row + below, down), clamp(here.column + right, across));
    } else if (event.key === "Escape") {
      leave();
    }
  });

  const most = Math.max(0, ...cells.map((cell) => total(cell.shares)));
  const kept = isExact ? "" : `, fullest block ${measured(Math.min(100 * most, 100), "%", 0)}`;
  return {
    element: el(
      "figure",
      // No wider than the matrix, so that narrow ones stand side by side.
      { class: "mask-matrix", style: `width:${Math.max(across * size, kNarrowest)}px` },
      paper,
      el(
        "figcaption",
        {},
        el("strong", {}, breakable(tensorName(tensor.name))),
        ` ${count(rows)} × ${count(columns)}${kept}`,
      ),
    ),
    show: (chosen) => {
      const theme = look();
      const context = canvas.getContext("2d");
      const fullest = Math.max(1e-9, ...cells.map((_, at) => total(shownShares(at, chosen))));
      cells.forEach((_, at) => {
        if (context) {
          context.fillStyle = colourOfCell(shownShares(at, chosen), keepers, fullest, theme);
          context.fillRect(at % across, Math.floor(at / across), 1, 1);
        }
      });
    },
  };
}
