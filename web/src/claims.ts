// What is claimed, and what this study says about it.
import { clear, el } from "./dom";
import type { Child } from "./dom";
import { compact, isFactor, plural, probability, prose, signed } from "./format";
import { commonScale, intervalPlot } from "./interval";
import type { Check, Claim, Judgement, Report, Verdict } from "./report";
import { drawnWords, figureName } from "./report";
import { kVerdicts, verdictBadge, verdictClass, verdictSign } from "./verdict";

export function claimAnchor(claim: Claim): string {
  return `claim-${claim.id.replace(/[^A-Za-z0-9-]/g, "-")}`;
}

const kSummary: Record<Verdict, string> = {
  holds: "hold",
  fails: "fail",
  undecided: "undecided",
  "no data": "without data",
};

function number(check: Check, value: number | null): string {
  return check.difference ? signed(value, check.unit) : value === null ? "–" : compact(value);
}

function interval(check: Check, judgement: Judgement): string {
  const ends =
    judgement.low === null || judgement.high === null
      ? "no interval"
      : judgement.low === judgement.high
        ? "the same in all"
        : `${number(check, judgement.low)} to ${number(check, judgement.high)}`;
  return `${ends} ${judgement.population}`;
}

function estimate(check: Check): Child {
  const judgement = check.general;
  return judgement
    ? [
        el("strong", {}, number(check, judgement.estimate)),
        judgement.estimate === null || isFactor(check.unit) ? null : ` ${check.unit}`,
        check.covered && ` ${check.covered}`,
        el("div", { class: "note" }, interval(check, judgement)),
      ]
    : "–";
}

function verdict(check: Check): Child {
  return [
    verdictBadge(check.verdict),
    check.general?.too_few && el("div", { class: "note" }, `only ${check.general.too_few}`),
    check.here && check.here.low !== null && el("div", { class: "note" }, `${check.here.population}: ${check.here.verdict}`),
  ];
}

function drawn(check: Check, word: string): string {
  return check.splits === 0
    ? plural(check.seeds, "run")
    : check.splits === check.seeds
      ? plural(check.splits, word)
      : `${plural(check.splits, word)}, ${plural(check.seeds, "run")}`;
}

function checkTable(claim: Claim, report: Report): HTMLElement {
  return el(
    "table",
    { class: "checks" },
    el(
      "thead",
      {},
      el(
        "tr",
        {},
        ["Check", "Verdict", `Estimate and ${Math.round(100 * report.level)} % interval`, "", "p", "Drawn"].map((name) => el("th", { scope: "col" }, name)),
      ),
    ),
    el(
      "tbody",
      {},
      claim.checks.map((check) =>
        el(
          "tr",
          {},
          el(
            "td",
            { class: "check-text" },
            check.text,
            el("div", { class: "note" }, `expected: ${check.expectation}`),
            check.note && el("div", { class: "note" }, check.note),
          ),
          el("td", { class: "check-verdict" }, verdict(check)),
          el("td", { class: "check-plot" }, intervalPlot(check, commonScale(claim.checks, check.unit))),
          el("td", { class: "check-number" }, estimate(check)),
          el("td", { class: "check-p", "data-name": "p" }, probability(check.general ? check.general.p : null)),
          el("td", { class: "check-n", "data-name": "drawn" }, drawn(check, report.drawn ?? "split")),
        ),
      ),
    ),
  );
}

function claimItem(claim: Claim, report: Report, figureAnchor: (id: string) => string): HTMLElement {
  const figure = report.figures.find((one) => one.id === claim.figure);
  const words = [el("span", { class: "claim-id" }, claim.id), el("span", { class: "claim-text" }, prose(claim.text))];
  const reason =
    claim.reason &&
    el(
      "span",
      { class: "claim-reason" },
      prose(claim.reason),
      claim.here && `; on these ${drawnWords(report)}: ${claim.here}`,
    );
  const link = figure
    ? el(
        "a",
        {
          class: "claim-link",
          href: `#${figureAnchor(figure.id)}`,
          "aria-label": `${claim.id}: see ${figureName(figure)}`,
        },
        figure.paper || "Figure",
      )
    : null;
  const body = claim.checks.length
    ? el(
        "details",
        {},
        el(
          "summary",
          {},
          words,
          el(
            "span",
            { class: "claim-note" },
            reason,
            el("span", { class: "claim-more" }, claim.reason ? "numbers" : plural(claim.checks.length, "check")),
          ),
        ),
        el("div", { class: "check-box" }, checkTable(claim, report)),
      )
    : el("div", {}, words, reason && el("span", { class: "claim-note" }, reason));
  return el(
    "li",
    { class: `claim ${verdictClass(claim.verdict)}`, id: claimAnchor(claim), "data-verdict": claim.verdict },
    verdictBadge(claim.verdict),
    el("div", { class: "claim-body" }, body),
    link,
  );
}

export function claimsPart(report: Report, figureAnchor: (id: string) => string): HTMLElement | null {
  if (!report.claims.length) {
    return null;
  }
  const numbers = new Map(
    kVerdicts.map((verdict) => [verdict, report.claims.filter((claim) => claim.verdict === verdict).length]),
  );
  const present = kVerdicts.filter((verdict) => numbers.get(verdict));
  const listOf = (claims: Claim[]): HTMLElement =>
    el(
      "ul",
      { class: "claims" },
      claims.map((claim) => claimItem(claim, report, figureAnchor)),
    );
  // Studies have claims for each of their sizes: those for others would bury what this one says.
  const isEmpty = (claim: Claim): boolean => claim.verdict === "no data";
  const empty = report.claims.filter(isEmpty);
  const folded =
    empty.length && empty.length < report.claims.length
      ? el(
          "details",
          { class: "claims-folded" },
          el("summary", {}, `${plural(empty.length, "claim")} without data: what they are about is not trained here, or not yet`),
          listOf(empty),
        )
      : null;
  const list = el("div", {}, listOf(folded ? report.claims.filter((claim) => !isEmpty(claim)) : report.claims), folded);
  let only: Verdict | null = null;
  const filter = (verdict: Verdict | null): void => {
    only = verdict;
    buttons.forEach((button, at) => button.setAttribute("aria-pressed", String(present[at] === only)));
    let shown = 0;
    for (const item of list.querySelectorAll<HTMLElement>(".claim")) {
      item.hidden = only !== null && item.dataset.verdict !== only;
      shown += item.hidden ? 0 : 1;
    }
    if (folded) {
      folded.hidden = only !== null && only !== "no data";
      folded.toggleAttribute("open", only === "no data");
    }
    clear(live, `${plural(shown, "claim")} shown`);
  };
  const live = el("p", { class: "unseen", "aria-live": "polite" });
  const buttons = present.map((verdict) =>
    el(
      "button",
      {
        type: "button",
        class: `tally ${verdictClass(verdict)}`,
        "aria-pressed": "false",
        title: `Show only claims that are: ${verdict}`,
        style: `flex-grow:${numbers.get(verdict)}`,
        click: () => filter(only === verdict ? null : verdict),
      },
      el("span", { class: "tally-number" }, verdictSign(verdict), numbers.get(verdict)),
      el("span", { class: "tally-name" }, kSummary[verdict]),
    ),
  );
  // A chart's link to a claim finds it, filtered out or not.
  window.addEventListener("hashchange", () => {
    const target = report.claims.some((claim) => `#${claimAnchor(claim)}` === location.hash)
      ? document.getElementById(location.hash.slice(1))
      : null;
    if (target) {
      filter(null);
      if (folded?.contains(target)) {
        folded.setAttribute("open", "");
      }
      target.querySelector("details")?.setAttribute("open", "");
      target.scrollIntoView({ block: "center" });
    }
  });
  return el(
    "section",
    { class: "part", "aria-labelledby": "claims-title" },
    el("h3", { id: "claims-title" }, report.paper ? "Do the paper’s findings hold?" : "Do the claims hold?"),
    el("div", { class: "tallies", role: "group", "aria-label": "Claims by verdict" }, buttons),
    live,
    list,
  );
}
