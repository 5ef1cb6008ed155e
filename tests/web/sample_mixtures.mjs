// Reports of a study of networks on rules, whose gates are made up here.
import { hostileName, makeRandom } from "./sample.mjs";

const kIterations = Array.from({ length: 13 }, (_, at) => 250 * at);
const kNames = ["collapse_avg", "collapse_worst", "alignment", "adaptation", "imi"];

function rowsOf(matrix, modules) {
  return Array.from({ length: matrix.length / modules }, (_, rule) =>
    matrix.slice(rule * modules, (rule + 1) * modules),
  );
}

// Collapse as src/measures has it; the others are any numbers.
function measuresOf(matrix, modules) {
  const rows = rowsOf(matrix, modules);
  const use = Array.from({ length: modules }, (_, at) => rows.reduce((sum, row) => sum + row[at] / 1000, 0) / rows.length);
  const lack = use.reduce((sum, share) => sum + Math.max(0, 1 / modules - share), 0);
  const round = (value) => Math.round(1000 * Math.min(Math.max(value, 0), 1)) / 1000;
  return [(modules / (modules - 1)) * lack, 1 - modules * Math.min(...use), 0.5, 0.25, 0.75].map(round);
}

function network(name, gates, matrices, more = {}) {
  const modules = Math.sqrt(matrices[0].length);
  const measures = matrices.map((matrix) => measuresOf(matrix, modules));
  return {
    series: name,
    name,
    gates,
    id: `run-${name}`,
    seed: 1,
    runs: 5,
    modules,
    order: Array.from({ length: modules }, (_, module) => module),
    iterations: kIterations,
    loss: kIterations.map((_, at) => 1.2 / (1 + 3 * at)),
    use: Object.fromEntries(kNames.map((measure, at) => [measure, measures.map((row) => row[at])])),
    activation: matrices,
    ...more,
  };
}

const identity = (side) =>
  Array.from({ length: side * side }, (_, at) => (Math.floor(at / side) === at % side ? 1000 : 0));

// From equal gates to the module that wins the rule; half of the rules to the first one.
function collapsing(side, seed) {
  const random = makeRandom(seed);
  const winners = Array.from({ length: side }, (_, rule) => (rule % 2 ? 0 : Math.floor(random() * side)));
  return kIterations.map((_, at) =>
    winners.flatMap((winner) => {
      const share = 1 / side + (at / kIterations.length) * (1 - 1 / side);
      return Array.from({ length: side }, (_, module) =>
        Math.round(1000 * (module === winner ? share : (1 - share) / (side - 1))),
      );
    }),
  );
}

function networks(side, seed = 3) {
  const uniform = network("random", "uniform", [Array(side * side).fill(Math.round(1000 / side))], {
    series: "",
    id: null,
    seed: null,
    runs: 0,
    iterations: [0],
    loss: [null],
  });
  const reversed = Array.from({ length: side }, (_, module) => side - 1 - module);
  return [
    network("gt-modular", "oracle", kIterations.map(() => identity(side))),
    network("modular-op", "learned", collapsing(side, 2), { order: reversed }),
    network("modular", "learned", collapsing(side, seed)),
    uniform,
    network("monolithic", "none", collapsing(side, 4), { modules: 0, order: [], use: null, activation: [] }),
  ];
}

function cellOf(rules, seed, shown = networks(rules, 3 + seed)) {
  return {
    task: "rules-mlp",
    series: `${rules} rules`,
    cell: `rules-mlp, ${rules} rules, task seed ${seed}`,
    rules,
    networks: shown,
  };
}

export function mixtures() {
  return {
    study: "rules-mlp",
    title: "Do learned mixtures specialise?",
    about: "Networks on data whose rule is known.",
    preset: "quick",
    preset_about: "Few rules.",
    paper: "A paper, 2022",
    level: 0.9,
    version: "0.1.0",
    overview: {
      planned: 40,
      done: 40,
      diverged: 0,
      core_seconds: 12,
      threads: 2,
      machine: "Intel Xeon at 2.80 GHz, AVX-512",
      overrides: [],
      missing: [],
      series: ["gt-modular", "modular-op", "modular", "monolithic"].map((name) => ({ name, runs: 10, settings: 1 })),
    },
    tasks: [],
    claims: [],
    figures: [],
    gallery: [],
    mixtures: [cellOf(4, 0), cellOf(4, 1), cellOf(32, 0)],
    chosen: [{ series: "modular", cell: "rules-mlp", split: 0, settings: "", validation: -0.1, tied: 1 }],
  };
}

// Networks whose details are empty, of another shape or kind, too many, or full of HTML.
export function brokenMixtures() {
  const report = mixtures();
  const many = Array.from({ length: 5000 }, (_, at) => at);
  const details = {
    "nothing at all": () => ({}),
    "no matrices": (one) => ({ ...one, activation: null }),
    "no measures": (one) => ({ ...one, use: null }),
    "matrices of another shape": (one) => ({ ...one, activation: one.activation.map((matrix) => matrix.slice(1)) }),
    "too large": (one) => ({ ...one, modules: 1e9 }),
    "wrong kinds": (one) => ({
      ...one,
      gates: "odd",
      seed: "one",
      runs: null,
      order: [0, 0, "a"],
      loss: ["none", -1, null, {}],
      use: { collapse_avg: "none", imi: [null, 7, -7, "a"] },
      activation: [null, "a", [1, 2], one.activation[0].map(() => null), one.activation[0].map(() => 1e308)],
    }),
    "odd times": (one) => ({ ...one, iterations: [5, 3, null, "a", 1e308, -2, 9, 9] }),
    "thousands of points": (one) => ({ ...one, iterations: many, loss: many, activation: many.map(() => null) }),
    "one point": (one) => ({ ...one, iterations: [3000], loss: [0] }),
    hostile: (one) => ({ ...one, name: hostileName, id: hostileName }),
  };
  report.mixtures = Object.entries(details).map(([name, change]) => ({
    ...cellOf(4, name, [change(networks(4)[2]), networks(4)[0]]),
    series: name,
  }));
  report.mixtures.push(null, {}, { ...cellOf(4, "no rules"), series: "no rules", rules: 1e9 }, { networks: [null, 3] });
  return report;
}

export const mixtureSamples = { mixtures, brokenMixtures };
