// One box for all charts. Its contents are elements, never HTML.
import type { Child } from "./dom";
import { clear, el } from "./dom";

const box = el("div", { class: "tooltip", role: "status", hidden: true });

export function hideTooltip(): void {
  box.hidden = true;
}

// Beside a place in the window, on whichever side there is room.
export function showTooltip(x: number, y: number, ...contents: Child[]): void {
  if (!box.isConnected) {
    document.body.append(box);
  }
  clear(box, ...contents);
  box.hidden = false;
  const { width, height } = box.getBoundingClientRect();
  const right = document.documentElement.clientWidth;
  const left = x + 16 + width > right - 8 ? x - 16 - width : x + 16;
  box.style.left = `${Math.min(Math.max(left, 8), Math.max(right - width - 8, 8))}px`;
  const above = y - height - 12;
  box.style.top = `${above < 60 ? y + 18 : above}px`;
}

export function fact(name: string, value: Child): HTMLElement {
  return el(
    "div",
    { class: "fact" },
    el("span", { class: "fact-name" }, name),
    el("span", { class: "fact-value" }, value),
  );
}
