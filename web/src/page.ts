// The report: reads the data that stand in the page and builds everything else.
import { choosesSettings, chosenSection } from "./chosen";
import { el } from "./dom";
import { figureAnchor, figureCard } from "./figure_card";
import { gallerySection } from "./gallery";
import { masksSection } from "./masks";
import { mixturesSection } from "./mixtures";
import { overviewSection } from "./overview";
import type { Palette } from "./palette";
import { makePalette } from "./palette";
import { readingSection } from "./reading";
import type { Report } from "./report";
import { completeReport, figureName, hasMasks, hasMixtures, hasSculpted, hasTrained } from "./report";
import { sculptedSection } from "./sculpted";
import { startTheme, themeButton } from "./theme";

function navigation(report: Report, sections: { id: string; name: string }[]): HTMLElement {
  const links = sections.map(({ id, name }) => el("a", { href: `#${id}` }, name));
  const bar = el(
    "nav",
    { class: "bar", "aria-label": "Sections" },
    el(
      "div",
      { class: "bar-inside" },
      el("a", { class: "brand", href: "#overview" }, "modlab", el("span", {}, report.study)),
      el("div", { class: "bar-links" }, links),
      themeButton(),
    ),
  );
  const seen = new Map<string, boolean>();
  const observer = new IntersectionObserver(
    (entries) => {
      for (const entry of entries) {
        seen.set(entry.target.id, entry.isIntersecting);
      }
      const here = sections.findIndex(({ id }) => seen.get(id));
      links.forEach((link, at) => link.setAttribute("aria-current", String(at === here)));
    },
    { rootMargin: "-20% 0px -70% 0px" },
  );
  requestAnimationFrame(() =>
    sections.forEach(({ id }) => {
      const target = document.getElementById(id);
      if (target) {
        observer.observe(target);
      }
    }),
  );
  return bar;
}

function figuresSection(report: Report, palette: Palette): HTMLElement {
  return el(
    "section",
    { id: "figures", class: "section", "aria-labelledby": "figures-title" },
    el("h2", { id: "figures-title" }, "Figures"),
    report.figures.length
      ? [
          el(
            "p",
            { class: "section-lede" },
            `${report.paper ? "The paper’s figures" : "Figures"}, drawn from this study’s runs. Point at a mark for its numbers, click it for the settings behind it.`,
          ),
          report.figures.length > 1
            ? el(
                "p",
                { class: "jump", role: "navigation", "aria-label": "Figures" },
                report.figures.map((figure) =>
                  el("a", { href: `#${figureAnchor(figure.id)}`, title: figure.title }, figureName(figure)),
                ),
              )
            : null,
          report.figures.map((figure) => figureCard(figure, report, palette)),
        ]
      : el("p", { class: "nothing" }, "This study draws no figures."),
  );
}

function build(): void {
  const source = document.getElementById("report")?.textContent ?? "{}";
  const report = completeReport(JSON.parse(source) as Partial<Report>);
  const palette = makePalette(report);
  document.title = `${report.title} – modlab`;
  startTheme();
  const sections = [
    { id: "overview", name: "Overview" },
    { id: "figures", name: "Figures" },
    { id: "networks", name: "Networks" },
    ...(hasSculpted(report) && hasTrained(report) ? [{ id: "pruned", name: "Pruned" }] : []),
    ...(hasMixtures(report) && (hasTrained(report) || hasSculpted(report)) ? [{ id: "mixtures", name: "Mixtures" }] : []),
    ...(hasMasks(report) && (hasTrained(report) || hasSculpted(report) || hasMixtures(report))
      ? [{ id: "masks", name: "Masks" }]
      : []),
    ...(choosesSettings(report) ? [{ id: "settings", name: "Settings" }] : []),
    { id: "reading", name: "Reading" },
  ];
  document
    .getElementById("page")
    ?.replaceChildren(
      el("a", { class: "skip", href: "#main" }, "Skip to the report"),
      navigation(report, sections),
      el(
        "main",
        { id: "main" },
        overviewSection(report, palette, figureAnchor),
        figuresSection(report, palette),
        hasTrained(report) ? gallerySection(report, palette) : null,
        hasSculpted(report) ? sculptedSection(report) : null,
        hasMixtures(report) ? mixturesSection(report, palette) : null,
        hasMasks(report) ? masksSection(report) : null,
        choosesSettings(report) ? chosenSection(report, palette) : null,
        readingSection(report),
      ),
    );
  // The page is built after the browser has looked for the address's anchor.
  if (location.hash) {
    document.getElementById(location.hash.slice(1))?.scrollIntoView();
  }
}

build();
