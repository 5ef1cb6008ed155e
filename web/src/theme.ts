// Light, dark, or as the system says.
import type { Look } from "./palette";
import { kDarkLook, kLightLook } from "./palette";
import { el } from "./dom";

type Choice = "auto" | "light" | "dark";

const kNames: Record<Choice, string> = { auto: "Auto", light: "Light", dark: "Dark" };
const kKey = "modlab-theme";
const listeners: (() => void)[] = [];
const system = window.matchMedia("(prefers-color-scheme: dark)");
let choice: Choice = remembered();
let printing = false;

// A browser may keep storage from pages that come from a disk.
function remembered(): Choice {
  try {
    const kept = localStorage.getItem(kKey);
    return kept === "light" || kept === "dark" ? kept : "auto";
  } catch {
    return "auto";
  }
}

function apply(): void {
  document.documentElement.dataset.theme = choice;
  for (const listener of listeners) {
    listener();
  }
}

export function look(): Look {
  return !printing && (choice === "dark" || (choice === "auto" && system.matches)) ? kDarkLook : kLightLook;
}

// Charts measure their labels, so they wait for the fonts that stand in the page.
export function fontsReady(): Promise<unknown> {
  return Promise.all(
    ["400 12px 'Inter Variable'", "600 12px 'Inter Variable'"].map((font) => document.fonts.load(font)),
  );
}

export function onThemeChange(listener: () => void): void {
  listeners.push(listener);
}

export function startTheme(): void {
  document.documentElement.dataset.theme = choice;
  system.addEventListener("change", apply);
  for (const [moment, on] of [
    ["beforeprint", true],
    ["afterprint", false],
  ] as const) {
    window.addEventListener(moment, () => {
      printing = on;
      apply();
    });
  }
}

export function themeButton(): HTMLElement {
  const label = el("span", {}, kNames[choice]);
  const button = el(
    "button",
    {
      type: "button",
      class: "theme",
      title: "Colours: as the system says, light, or dark",
      click: () => {
        choice = choice === "auto" ? (look().dark ? "light" : "dark") : choice === "light" ? "dark" : "light";
        if (choice === (system.matches ? "dark" : "light")) {
          choice = "auto";
        }
        label.textContent = kNames[choice];
        try {
          localStorage.setItem(kKey, choice);
        } catch {
          // The choice then lasts as long as the page.
        }
        apply();
      },
    },
    el("span", { class: "theme-icon", "aria-hidden": "true" }),
    el("span", { class: "unseen" }, "Theme: "),
    label,
  );
  return button;
}
