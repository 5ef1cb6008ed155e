// A report on rules: who wins contests, measures side by side, and what networks were while they were trained.
import { empty, makeRandom } from "./sample.mjs";

const models = ["gt-modular", "modular-op", "modular", "monolithic"];
const rules = [2, 4, 8, 16, 32];
const types = ["regression", "classification"];
const steps = Array.from({ length: 31 }, (_, at) => at * 1000);

const measure = (name, label, extra = {}) => ({
  name,
  label,
  unit: "",
  log: false,
  domain: null,
  higher_is_better: false,
  is_share: false,
  ...extra,
});
const share = { domain: [0, 1], is_share: true };
const percent = { unit: "%", domain: [0, 100], is_share: true };
const axis = (name, label, order, ordinal = true) => ({ name, label, ordinal, order });
const blank = { paper: "", about: "", y: null, panel: null, row: null, baseline: [], by_measure: false };
const byModel = axis("series", "model", models);

function voteFigure() {
  // One contest of five is a tie with two rules, of classes.
  const won = { regression: [60, 20, 20, 0], classification: [40, 20, 20, 0] };
  const rows = types.flatMap((panel) =>
    rules.flatMap((x) => {
      const shares = [...won[panel], x === 2 && panel === "classification" ? 20 : 0];
      shares[3] = 100 - shares.reduce((sum, one) => sum + one, 0);
      return [...models, "tie"].flatMap((series, at) =>
        series === "tie" && !shares[at]
          ? []
          : [{ x, panel, series, values: { votes: { mean: shares[at], within: null, between: 12, n: 5 } }, chosen: [] }],
      );
    }),
  );
  return {
    ...blank,
    id: "F3",
    paper: "Figure 3",
    title: "Who wins",
    kind: "votes",
    x: axis("rules", "rules", rules),
    panel: axis("task_type", "task type", types),
    series: axis("series", "model", [...models, "tie"]),
    measures: [measure("votes", "contests won", { ...percent, higher_is_better: true })],
    rows,
  };
}

function sideBySide(id, kind, measures, random) {
  const value = (mean) => ({ mean, within: null, between: mean * 0.1, n: 5, runs: [mean * 0.9, mean * 1.1] });
  return {
    ...blank,
    id,
    title: `Measures of ${id}`,
    kind,
    by_measure: true,
    x: axis("rules", "rules", rules),
    series: byModel,
    measures,
    baseline: measures
      .filter((one) => one.domain?.[1] === 1)
      .map((one) => ({
        measure: one.name,
        label: "random gates",
        panel: null,
        row: null,
        points: rules.map((x) => ({ x, value: one.name === "alignment" ? 1 - 1 / x : 0 })),
      })),
    rows: models.flatMap((series, at) =>
      rules.map((x, place) => ({
        x,
        series,
        values: Object.fromEntries(
          measures.map((one) => [
            one.name,
            value((0.02 + 0.05 * at + 0.05 * place * random()) * (one.unit === "%" ? 30 : 1)),
          ]),
        ),
        chosen: [0, 1, 2, 3, 4].map((split) => ({ split, settings: "" })),
      })),
    ),
  };
}

function curveFigure(random) {
  return {
    ...blank,
    id: "F7",
    paper: "Figure 7",
    title: "Loss while training",
    kind: "curves",
    x: axis("iteration", "training steps", steps, false),
    panel: axis("rules", "rules", ["2 rules", "8 rules"]),
    series: byModel,
    measures: [measure("loss", "loss"), measure("alignment", "alignment", share)],
    rows: ["2 rules", "8 rules"].flatMap((panel) =>
      models.flatMap((series, at) =>
        steps.map((x) => ({
          x,
          panel,
          series,
          values: {
            loss: { mean: 0.05 * at + Math.exp(-x / (2000 + 1500 * at)), within: null, between: 0.03, n: 5 },
            alignment: { mean: 0.1 * at + 0.02 * random(), within: null, between: 0.03, n: 5 },
          },
          chosen: [],
        })),
      ),
    ),
  };
}

export function contests() {
  const random = makeRandom(14);
  const judgement = {
    verdict: "undecided",
    too_few: "4 task seeds",
    estimate: 25,
    low: -5,
    high: 55,
    p: 0.2,
    population: "over 4 task seeds",
    interval: "[-5, 55], 90 % over 4 task seeds",
  };
  return {
    ...empty(),
    study: "rules-mlp",
    title: "One rule of many",
    about: "Four models on sums of two numbers.",
    tasks: [],
    paper: "Somebody",
    drawn: "task seed",
    overview: {
      ...empty().overview,
      planned: 200,
      done: 200,
      missing: [],
      series: models.map((name) => ({ name, runs: 50, settings: 1 })),
    },
    claims: [
      {
        id: "F3a",
        figure: "F3",
        text: "The oracle wins.",
        verdict: "undecided",
        here: "holds",
        reason: "4 task seeds",
        checks: [
          {
            text: "contests won by gt-modular against modular",
            expectation: "ahead",
            expected_low: 0,
            expected_high: null,
            verdict: "undecided",
            general: judgement,
            here: null,
            difference: true,
            unit: "points",
            splits: 4,
            seeds: 4,
            covered: "",
            note: "of 40 contests: gt-modular 25, modular 14, 1 tie",
          },
        ],
      },
    ],
    figures: [
      voteFigure(),
      sideBySide(
        "F5",
        "bars",
        [
          measure("collapse_avg", "collapse, average", share),
          measure("collapse_worst", "collapse, worst", share),
          measure("alignment", "alignment", share),
        ],
        random,
      ),
      sideBySide("F4", "lines", [measure("id_error", "error", percent), measure("ood_error", "error out of distribution", percent)], random),
      curveFigure(random),
    ],
    chosen: models.map((series) => ({ series, cell: "2 rules", split: 0, settings: "", validation: 1, tied: 1 })),
  };
}

export const contestSamples = { contests };
