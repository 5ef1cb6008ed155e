// Reports of a study of sculpted networks, with networks that are carved here.
import { hostileName, makeRandom } from "./sample.mjs";

const kStrengths = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const kWidths = [4, 24, 24, 2];
const kLayerGap = 80;

// What is left in the end: three hidden units, two hidden units, and the edges between them.
const kSkeleton = [
  { layer: 0, from: [0, 1, 2, 3], to: [5, 9, 17] },
  { layer: 1, from: [5, 9], to: [2] },
  { layer: 1, from: [9, 17], to: [20] },
  { layer: 2, from: [2], to: [0] },
  { layer: 2, from: [20], to: [1] },
];

function allEdges() {
  return kWidths.slice(1).flatMap((width, layer) =>
    Array.from({ length: width }, (_, to) =>
      Array.from({ length: kWidths[layer] }, (_, from) => ({ layer, from, to })),
    ).flat(),
  );
}

const inSkeleton = ({ layer, from, to }) =>
  kSkeleton.some((part) => part.layer === layer && part.from.includes(from) && part.to.includes(to));

// As src/report/sculpted_drawing.cc writes them.
function letters(before, after, weights) {
  return before
    .map((edge) => {
      if (!after.includes(edge)) {
        return ".";
      }
      const weight = weights.get(edge);
      return kStrengths[Math.round(Math.min(Math.abs(weight), 1) * 31) + (weight < 0 ? 32 : 0)];
    })
    .join("");
}

// Prunes all edges down to the skeleton; every third attempt fails.
function carve(seed) {
  const random = makeRandom(seed);
  const weights = new Map(allEdges().map((edge) => [edge, 2 * random() - 1]));
  let edges = [...weights.keys()];
  const step = (stage, percent, left, accepted, accuracy) => ({
    stage,
    percent,
    units: new Set(left.flatMap(({ layer, from }) => (layer ? [`${layer} ${from}`] : []))).size,
    edges: left.length,
    accuracy,
    accepted,
  });
  const history = [step("dense", 0, edges, true, 100)];
  const networks = [letters(edges, edges, weights)];
  for (let attempt = 1; attempt <= 12; ++attempt) {
    const share = 0.6 - 0.02 * attempt;
    const left = edges.filter((edge) => inSkeleton(edge) || random() < share || (attempt === 1 && edge.to % 2));
    const stage = attempt < 7 ? "units" : attempt === 7 ? "retrain" : "edges";
    const accepted = attempt % 3 !== 0;
    history.push(step(stage, Math.min(99, 12 * attempt), left, accepted, accepted ? 100 : 87.5 - attempt / 4));
    if (accepted) {
      networks.push(letters(edges, left, weights));
      edges = left;
    }
  }
  const last = edges.filter(inSkeleton);
  history.push(step("edges", 99.25, last, true, 100), step("edges", 99.5, last.slice(1), false, 81.25));
  networks.push(letters(edges, last, weights));
  return { history, networks, weights: last.map((edge) => Number(weights.get(edge).toPrecision(3))) };
}

function drawing(carved, modules) {
  const stays = [[0, 1, 2, 3], [5, 9, 17], [2, 20], [0, 1]];
  const names = ["inputs", "hidden 1", "hidden 2", "outputs"];
  const unitName = (layer, unit) => [`x${unit + 1}`, `h1.${unit}`, `h2.${unit}`, `y${unit + 1}`][layer];
  return {
    width: 160,
    height: 320,
    unit_height: 20,
    modules,
    layers: kWidths.map((width, layer) => ({
      name: names[layer],
      y: 286 - kLayerGap * layer,
      unit_width: 20,
      names: Array.from({ length: width }, (_, unit) => unitName(layer, unit)),
      places: Array.from({ length: width }, (_, unit) => {
        const at = stays[layer].indexOf(unit);
        return at < 0 ? null : [80 + 30 * (at - (stays[layer].length - 1) / 2), 286 - kLayerGap * layer];
      }),
    })),
    networks: carved.networks,
    weights: carved.weights,
    crossing: [1],
  };
}

const kTrue = [
  { name: "G", truth: 0, left: 15, top: 180, width: 130, height: 126 },
  { name: "F1", truth: 1, left: 36, top: 20, width: 40, height: 116 },
  { name: "F2", truth: 2, left: 84, top: 20, width: 40, height: 116 },
];
const kJoined = [{ name: "G + F1 + F2", truth: null, left: 15, top: 20, width: 130, height: 286 }];

function network(seed, ranks, success) {
  const carved = carve(seed);
  return {
    id: `run${seed}`,
    ranks,
    seed,
    epochs: 30,
    accuracy: 100,
    success,
    edges: carved.weights.length,
    dense_edges: 720,
    units: 5,
    dense_units: 48,
    tied: 5,
    tied_true: success === null ? null : success ? 4 : 0,
    unit_step: 55,
    edge_step: 2.5,
    command: `modlab sculpt --task sculpt/4-1-2-2 --hidden 24,24 --seed ${seed}`,
    history: carved.history,
    drawing: drawing(carved, success ? kTrue : kJoined),
  };
}

const unlearned = {
  ...network(9, ["failed"], null),
  accuracy: 93.75,
  edges: null,
  units: null,
  tied: 0,
  unit_step: null,
  edge_step: null,
  command: null,
  history: [],
  drawing: null,
};

const kPicture =
  '<svg xmlns="http://www.w3.org/2000/svg" width="240" height="120" viewBox="0 0 240 120">' +
  '<rect width="100%" height="100%" fill="#ffffff"/><rect x="20" y="20" width="90" height="80" fill="#dde5f6"/></svg>';

const cellOf = (series, task, networks) => ({
  series,
  task,
  cell: `${series}, ${task}, hidden 24,24`,
  trials: 4,
  learned: 4,
  true_modules: 62.5,
  networks,
});

function figure() {
  const value = (mean) => ({ mean, within: 12.5, between: null, n: 4, runs: [0, 50, 100, 100] });
  const axis = (name, label, order) => ({ name, label, ordinal: true, order });
  const share = {
    name: "true_modules",
    label: "tied networks with the true modules",
    unit: "%",
    log: false,
    domain: [0, 100],
    higher_is_better: true,
    is_share: true,
  };
  const base = { paper: "", about: "", panel: null, row: null, measures: [share], baseline: [] };
  const tasks = ["sculpt/4-1-2-2", "sculpt/4-2-4"];
  const depths = ["1 hidden layer", "2 hidden layers"];
  return [
    {
      ...base,
      id: "F6",
      title: "Bars",
      kind: "bars",
      x: axis("task", "task", tasks),
      y: null,
      series: axis("series", "series", depths),
      rows: tasks.flatMap((x, at) =>
        depths.map((series, depth) => ({ x, series, values: { true_modules: value(at || depth ? 62.5 : 0) } })),
      ),
    },
    {
      ...base,
      id: "T2",
      title: "Heat map",
      kind: "heatmap",
      x: axis("lr", "learning rate", [0.01, 0.1]),
      y: axis("batch_size", "batch size", [4, 16]),
      series: null,
      rows: [0.01, 0.1].flatMap((x) => [4, 16].map((y) => ({ x, y, values: { true_modules: value(90 + 50 * x) } }))),
    },
  ];
}

export function sculpted() {
  return {
    study: "sculpt-validation",
    title: "Does pruning lay a task's modules open?",
    about: "Dense networks are trained, pruned and clustered.",
    preset: "quick",
    preset_about: "One width.",
    paper: "A paper, 2025",
    level: 0.9,
    version: "0.1.0",
    overview: {
      planned: 16,
      done: 16,
      diverged: 0,
      core_seconds: 12,
      trainings: 14268,
      threads: 2,
      machine: "Intel Xeon at 2.80 GHz, AVX-512",
      overrides: [],
      missing: [],
      series: ["1 hidden layer", "2 hidden layers"].map((name) => ({ name, runs: 8, settings: 1 })),
    },
    tasks: ["sculpt/4-1-2-2", "sculpt/4-2-4"].map((name) => ({
      name,
      about: "Two functions of three shared gates",
      inputs: 4,
      outputs: 2,
      base_rate: 87.5,
      gates: ["g1 = AND(x1,x2)"],
      picture: kPicture,
    })),
    claims: [],
    figures: figure(),
    gallery: [],
    sculpted: [
      cellOf("1 hidden layer", "sculpt/4-1-2-2", [network(1, ["typical", "failed"], false)]),
      cellOf("2 hidden layers", "sculpt/4-1-2-2", [
        network(2, ["typical"], true),
        network(3, ["best"], true),
        network(4, ["failed"], false),
      ]),
      { ...cellOf("2 hidden layers", "sculpt/4-2-4", [network(5, ["typical"], true), unlearned]), learned: 3 },
    ],
    chosen: [
      { series: "1 hidden layer", cell: "sculpt/4-2-4", split: 40, settings: "", validation: 100, tied: 1 },
    ],
  };
}

// Networks whose details are empty, too short, of the wrong kind, or full of HTML.
export function brokenSculpted() {
  const report = sculpted();
  const details = {
    "nothing at all": () => ({}),
    "no drawing": (one) => ({ ...one, drawing: {} }),
    "no history": (one) => ({ ...one, history: null }),
    "wrong kinds": (one) => ({
      ...one,
      ranks: ["odd", 3],
      history: [null, { stage: "odd" }, { stage: "dense", edges: "many", accuracy: 1 }],
      tied: "all",
      drawing: { ...one.drawing, modules: [null, { name: 3 }], weights: "none", crossing: [-1, 1e9, "a"] },
    }),
    "odd networks": (one) => ({
      ...one,
      drawing: {
        ...one.drawing,
        networks: [null, "A", "!".repeat(5000)],
        layers: one.drawing.layers.map((layer) => ({ ...layer, places: [null, [1], "a", [3, 4]], names: null })),
      },
    }),
    hostile: (one) => ({
      ...one,
      id: hostileName,
      command: hostileName,
      drawing: {
        ...one.drawing,
        modules: [{ ...one.drawing.modules[0], name: hostileName }],
        layers: one.drawing.layers.map((layer) => ({ ...layer, name: hostileName, names: [hostileName] })),
      },
    }),
  };
  report.tasks[0].picture = `<svg xmlns="http://www.w3.org/2000/svg" onload="alert(8)"><script>alert(9)</script></svg>`;
  report.sculpted = Object.entries(details).map(([name, change]) =>
    cellOf(name, "sculpt/4-1-2-2", [change(network(7, ["typical"], true))]),
  );
  report.sculpted.push(null, {});
  return report;
}

export const sculptedSamples = { sculpted, brokenSculpted };
