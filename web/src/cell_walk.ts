// Cells that say more when one points at them, or goes to them with the arrow keys: one stop of the tab key for all.
import type { Child } from "./dom";
import { hideTooltip, showTooltip } from "./tooltip";

export type Cells = Map<HTMLElement, () => Child[]>;

const kArrows: Record<string, [number, number]> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

// The next cell in a direction: the nearest one, as long as it does not lie too far aside.
function neighbour(from: HTMLElement, cells: Iterable<HTMLElement>, [right, down]: [number, number]): HTMLElement {
  const centre = (cell: HTMLElement): { x: number; y: number } => {
    const box = cell.getBoundingClientRect();
    return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
  };
  const here = centre(from);
  let best = from;
  let least = Infinity;
  for (const cell of cells) {
    const there = centre(cell);
    const [x, y] = [there.x - here.x, there.y - here.y];
    const ahead = x * right + y * down;
    const aside = Math.abs(x * down) + Math.abs(y * right);
    const distance = ahead + 4 * aside;
    if (ahead > 1 && aside <= 2 * ahead && distance < least && cell.offsetParent) {
      least = distance;
      best = cell;
    }
  }
  return best;
}

export function makeWalkable(container: HTMLElement, cells: Cells): void {
  let stop: HTMLElement | null = null; // where the tab key goes
  const moveStop = (cell: HTMLElement): void => {
    stop?.setAttribute("tabindex", "-1");
    stop = cell;
    stop.setAttribute("tabindex", "0");
  };
  for (const cell of cells.keys()) {
    cell.setAttribute("tabindex", "-1");
  }
  const first = cells.keys().next().value;
  if (first) {
    moveStop(first);
  }
  const cellOf = (event: Event): HTMLElement | null => {
    for (let at = event.target; at instanceof Element && at !== container; at = at.parentElement) {
      if (at instanceof HTMLElement && cells.has(at)) {
        return at;
      }
    }
    return null;
  };
  const show = (cell: HTMLElement): void => {
    const box = cell.getBoundingClientRect();
    showTooltip(box.x + box.width / 2, box.y, ...(cells.get(cell)?.() ?? []));
  };
  container.addEventListener("pointerover", (event) => {
    const cell = cellOf(event);
    if (cell) {
      show(cell);
    } else {
      hideTooltip();
    }
  });
  container.addEventListener("pointerleave", hideTooltip);
  container.addEventListener("focusin", (event) => {
    const cell = cellOf(event);
    if (cell) {
      moveStop(cell);
      show(cell);
    }
  });
  container.addEventListener("focusout", hideTooltip);
  container.addEventListener("keydown", (event) => {
    const cell = cellOf(event);
    const arrow = kArrows[event.key];
    if (cell && arrow) {
      event.preventDefault();
      neighbour(cell, cells.keys(), arrow).focus();
    } else if (event.key === "Escape") {
      hideTooltip();
    }
  });
}
