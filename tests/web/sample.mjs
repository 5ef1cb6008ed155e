// Reports to look at and to test with: a finished study, one cut short, an empty one, and one full of hostile names.
// `node sample.mjs KIND` prints one as JSON.
import { pathToFileURL } from "node:url";

export function makeRandom(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

const ratios = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7];
const tasks = [
  {
    name: "depth1",
    about: "Two exclusive-ors of two inputs each",
    inputs: 6,
    outputs: 2,
    base_rate: 50,
    gates: ["XOR(x0,x1)", "XOR(x2,x3)"],
  },
  {
    name: "depth2",
    about: "Three exclusive-ors, joined by two ANDs",
    inputs: 6,
    outputs: 2,
    base_rate: 75,
    gates: ["XOR(x0,x1)", "XOR(x2,x3)", "XOR(x4,x5)", "AND(a0,a1)", "AND(a1,a2)"],
  },
  {
    name: "depth3",
    about: "Exclusive-ors, ANDs and a last level of ORs over pairs",
    inputs: 6,
    outputs: 2,
    base_rate: 62.5,
    gates: [
      "XOR(x0,x1)",
      "XOR(x2,x3)",
      "XOR(x4,x5)",
      "AND(a0,a1)",
      "AND(a1,a2)",
      "AND(a0,a2)",
      "OR(b0,b1)",
      "OR(b1,b2)",
    ],
  },
];
// How soon each architecture learns the function, and what it ends at.
const learners = {
  dense: { middle: 0.42, slope: 12, top: 99.2, train: 100, flops: 3.1e8 },
  "sparse 50 %": { middle: 0.46, slope: 11, top: 98, train: 100, flops: 1.7e8 },
  "sparse 25 %": { middle: 0.52, slope: 10, top: 95, train: 99.5, flops: 9.2e7 },
  "sparse 10 %": { middle: 0.62, slope: 8, top: 87, train: 93, flops: 4.4e7 },
  "sparse matched": { middle: 0.66, slope: 8, top: 85, train: 90, flops: 3.6e7 },
  modular: { middle: 0.45, slope: 9, top: 96, train: 94, flops: 5.2e7 },
  "modular-fc": { middle: 0.27, slope: 14, top: 99.8, train: 99.8, flops: 2.1e7 },
  "modular-shared": { middle: 0.33, slope: 13, top: 99.4, train: 98.5, flops: 4.8e7 },
  "modular-shared-fcms": { middle: 0.17, slope: 18, top: 100, train: 100, flops: 1.2e7 },
};
const all = Object.keys(learners);
const pair = ["modular", "modular-shared"];

const axis = (name, label, ordinal = false, order) => ({ name, label, ordinal, ...(order ? { order } : {}) });
const measure = (name, label, unit, extra = {}) => ({
  name,
  label,
  unit,
  log: false,
  domain: null,
  higher_is_better: true,
  ...extra,
});
const testAndTrain = [
  measure("test", "Test accuracy", "%", { domain: [40, 100] }),
  measure("train", "Train accuracy", "%", { domain: [40, 100] }),
];
// What guessing reaches: the same everywhere, or with every step along x a little more.
const baselineOf = (panel, xs, value, step = 0) =>
  testAndTrain.map(({ name }) => ({
    measure: name,
    panel,
    row: null,
    points: xs.map((x, at) => ({ x, value: value + step * at })),
  }));

function makeWorld(seed) {
  const random = makeRandom(seed);
  const noise = (size) => (random() + random() + random() - 1.5) * size;
  const value = (mean, size, cap = Infinity, runs = 9) => {
    const values = Array.from({ length: runs }, () => Math.min(mean + noise(size * 3), cap));
    const average = values.reduce((sum, one) => sum + one, 0) / runs;
    return {
      mean: average,
      within: size * (0.4 + 0.3 * random()),
      between: size * (0.7 + 0.5 * random()),
      n: runs,
      runs: values,
    };
  };
  const accuracy = (series, depth, ratio, shift = 0) => {
    const learner = learners[series] ?? learners.modular;
    const base = tasks[depth - 1].base_rate;
    const share = 1 / (1 + Math.exp(-learner.slope * (ratio - learner.middle - 0.09 * (depth - 1) - shift)));
    const top = learner.top - 3 * (depth - 1) * (series === "modular-shared-fcms" ? 0 : 1);
    return base - 4 + (top - base + 4) * share;
  };
  const spread = (mean, base) => 0.25 + 5 * Math.max(0, ((mean - base) * (100 - mean)) / 625);
  const settings = () => {
    const of = (list) => list[Math.floor(random() * list.length)];
    return `lr ${of([0.01, 0.001])}, lr_structural ${of([0.1, 0.01])}, batch ${of([4, 64])}, weight_decay ${of([0, 0.001, 0.0001])}`;
  };
  const chosen = () => [40, 41, 42].map((split) => ({ split, settings: settings() }));
  return { random, noise, value, accuracy, spread, settings, chosen };
}

function byDepthAndRatio(world, series, values) {
  return tasks.flatMap((task, at) =>
    series.flatMap((name) =>
      ratios.map((ratio) => ({
        x: ratio,
        panel: task.name,
        series: name,
        values: values(name, at + 1, ratio),
        chosen: world.chosen(),
      })),
    ),
  );
}

function figures(world) {
  const ratio = axis("ratio", "Training ratio");
  const depth = axis("task", "Task");
  const by = (order) => axis("architecture", "Architecture", true, order);
  const blank = { y: null, panel: null, row: null, series: null, baseline: [] };
  const accuracies = (name, level, at, shift = 0) => {
    const mean = world.accuracy(name, level, at, shift);
    const train = Math.max(
      mean,
      (learners[name] ?? learners.modular).train - 6 * level * (name.startsWith("modular") ? 1 : 0),
    );
    return {
      test: world.value(mean, world.spread(mean, tasks[level - 1].base_rate), 100),
      train: world.value(train, 0.5, 100),
    };
  };
  return [
    {
      ...blank,
      id: "F3",
      paper: "Figure 3",
      kind: "lines",
      title: "Accuracy against the share of the truth table that is trained on",
      about:
        "Every architecture with the settings that won on validation. Networks that are given more of the structure need fewer rows to learn the whole function.",
      x: ratio,
      panel: depth,
      series: by(all),
      measures: testAndTrain,
      baseline: tasks.flatMap((task, at) => baselineOf(task.name, ratios, task.base_rate, at === 0 ? 1.5 : 0)),
      rows: byDepthAndRatio(world, all, accuracies),
    },
    {
      ...blank,
      id: "F4",
      paper: "Figure 4",
      kind: "lines",
      title: "What training costs until the best validation epoch",
      about: "Floating-point operations of training up to the first best validation epoch, by the published formula.",
      x: ratio,
      panel: depth,
      series: by(all),
      measures: [
        measure("flops", "Training FLOPs", "FLOPs", { log: true, higher_is_better: false }),
        measure("exact", "Training FLOPs, counted exactly", "FLOPs", { log: true, higher_is_better: false }),
      ],
      rows: byDepthAndRatio(world, all, (name, level, at) => {
        const flops = learners[name].flops * level * (0.6 + at + world.noise(0.2));
        return { flops: world.value(flops, flops * 0.1), exact: world.value(flops * 1.13, flops * 0.1) };
      }),
    },
    {
      ...blank,
      id: "F5",
      paper: "Figure 5",
      kind: "lines",
      title: "How far the learned wiring is from the true one",
      about: "Minimum graph edit distance between the learned and the true graph.",
      x: ratio,
      panel: depth,
      series: by(pair),
      measures: [measure("ged", "Edit distance", "", { higher_is_better: false })],
      rows: byDepthAndRatio(world, pair, (name, level, at) => {
        const distance = Math.max(0, (name === "modular" ? 6.5 : 4) * level * (0.85 - at) + world.noise(0.4));
        return { ged: world.value(distance, 0.4) };
      }),
    },
    {
      ...blank,
      id: "F6",
      paper: "Figure 6",
      kind: "lines",
      title: "Do first-level modules compute exclusive-or?",
      about: "Largest absolute correlation of first-level modules with XOR.",
      x: ratio,
      panel: depth,
      series: by(pair),
      measures: [measure("correlation", "Absolute correlation", "", { domain: [0, 1] })],
      rows: byDepthAndRatio(world, pair, (name, level, at) => {
        const mean = Math.min(0.99, 0.25 + at * (name === "modular" ? 0.85 : 1.15) - 0.07 * level);
        return { correlation: world.value(mean, 0.04, 1) };
      }),
    },
    {
      ...blank,
      id: "F15",
      paper: "Figure 15",
      kind: "bars",
      title: "Direct top-k against Gumbel selection, modular",
      about: "Three ways to learn which inputs a module reads.",
      x: ratio,
      series: axis("selection", "Selection", true, [
        "modular, top-k",
        "modular, gumbel batch",
        "modular, gumbel sample",
      ]),
      measures: testAndTrain,
      baseline: baselineOf(null, ratios, 75),
      rows: ["modular, top-k", "modular, gumbel batch", "modular, gumbel sample"].flatMap((series, kind) =>
        ratios.map((at) => ({
          x: at,
          series,
          values: accuracies("modular", 2, at, 0.12 * kind),
          chosen: world.chosen(),
        })),
      ),
    },
    {
      ...blank,
      id: "F16",
      paper: "Figure 16",
      kind: "lines",
      title: "Gumbel temperature",
      about: "Test and train accuracy against the temperature of Gumbel selection.",
      x: axis("tau", "Temperature τ", true, [0.1, 0.5, 1, 2, 5]),
      panel: axis("ratio", "Ratio"),
      series: axis("selection", "Selection", true, ["modular, gumbel batch", "modular-shared, gumbel batch"]),
      measures: testAndTrain,
      baseline: ["ratio 0.3", "ratio 0.5"].flatMap((panel) => baselineOf(panel, [0.1, 0.5, 1, 2, 5], 75)),
      rows: ["modular, gumbel batch", "modular-shared, gumbel batch"].flatMap((series) =>
        ["ratio 0.3", "ratio 0.5"].flatMap((panel) =>
          [0.1, 0.5, 1, 2, 5].map((tau, at) => ({
            x: tau,
            panel,
            series,
            values: accuracies(series.split(",")[0], 2, panel.endsWith("5") ? 0.5 : 0.3, 0.1 - 0.02 * at),
            chosen: world.chosen(),
          })),
        ),
      ),
    },
    {
      ...blank,
      id: "F19",
      paper: "Figure 19",
      kind: "heatmap",
      title: "Structural against functional learning rate, modular-shared",
      about: "Every pair of rates, without selection.",
      x: axis("lr", "Functional learning rate", true, [0.0001, 0.001, 0.01, 0.1]),
      y: axis("lr_structural", "Structural learning rate", true),
      panel: axis("ratio", "Ratio"),
      measures: testAndTrain,
      rows: ["ratio 0.3", "ratio 0.5", "ratio 0.7"].flatMap((panel, at) =>
        [0.0001, 0.001, 0.01, 0.1].flatMap((x, i) =>
          [0.001, 0.01, 0.1, 1].map((y, j) => ({
            x,
            y,
            panel,
            values: {
              test:
                x === 0.1 && y === 1
                  ? { mean: null, within: null, between: null, n: 0 }
                  : world.value(
                      58 + 9 * at + 5 * i - 4 * Math.max(0, i - 2) ** 2 + 4 * j - 5 * Math.max(0, j - 2) ** 2,
                      1.2,
                      100,
                    ),
              train: world.value(68 + 7 * at + 5 * i + 3 * j, 1, 100),
            },
          })),
        ),
      ),
    },
    {
      ...blank,
      id: "F21",
      paper: "Figure 21",
      kind: "lines",
      title: "More modules than the function needs",
      about: "Three, six and nine modules a level; the true counts are three and two.",
      x: ratio,
      series: axis("modules", "Modules", true, [
        "modular",
        "modular, 3 modules",
        "modular, 6 modules",
        "modular, 9 modules",
      ]),
      measures: testAndTrain,
      baseline: baselineOf(null, ratios, 75),
      rows: ["modular", "modular, 3 modules", "modular, 6 modules", "modular, 9 modules"].flatMap((series, kind) =>
        ratios.map((at) => ({
          x: at,
          series,
          values: accuracies("modular", 2, at, 0.03 * kind),
          chosen: world.chosen(),
        })),
      ),
    },
    {
      ...blank,
      id: "F22",
      paper: "Figure 22",
      kind: "lines",
      title: "Slots and pool of shared modules",
      about: "Rows: slots a level. Columns: pool size.",
      x: ratio,
      panel: axis("pool", "Pool"),
      row: axis("slots", "Slots"),
      series: by(["modular-shared"]),
      measures: testAndTrain,
      rows: ["3 slots", "6 slots", "9 slots"].flatMap((row, i) =>
        ["pool 2", "pool 4", "pool 8"].flatMap((panel, j) =>
          i === 2 && j === 2
            ? []
            : ratios.map((at) => ({
                x: at,
                panel,
                row,
                series: "modular-shared",
                values: accuracies("modular-shared", 2, at, 0.02 * i + 0.02 * j),
              })),
        ),
      ),
    },
    {
      ...blank,
      id: "F25",
      paper: "Figure 25",
      kind: "heatmap",
      title: "Depth against ratio",
      about: "The best corner is a large ratio and a shallow function.",
      x: axis("ratio", "Training ratio", true),
      y: axis("task", "Task", true),
      panel: axis("architecture", "Architecture", true, ["dense", "modular", "modular-shared"]),
      measures: [...testAndTrain, measure("flops", "Training FLOPs", "FLOPs", { log: true, higher_is_better: false })],
      rows: ["dense", "modular", "modular-shared"].flatMap((panel) =>
        tasks.flatMap((task, at) =>
          ratios.map((x) => ({
            x,
            y: task.name,
            panel,
            values: {
              ...accuracies(panel, at + 1, x),
              flops: world.value(learners[panel].flops * (at + 1) * (0.5 + x), 1e6),
            },
          })),
        ),
      ),
    },
    {
      ...blank,
      id: "T1",
      paper: "Table 1",
      kind: "table",
      title: "Operations of one training step",
      about: "Forward, backward and update, by the published formula.",
      x: null,
      measures: [],
      rows: [],
      table: {
        columns: ["Architecture", "Task", "Forward", "Backward", "Update"],
        rows: [
          ["dense", "depth2", 4176, 4104, 2052],
          ["modular", "depth2", 422, 242, 270],
          ["modular-shared", "depth2", 422, 242, 108],
          ["dense", "depth3", 6768, 6696, 3348],
          ["modular", "depth3", 674, 386, 432],
          ["modular-shared", "depth3", 674, 386, 162],
        ],
        notes: ["Backward of the image task is 220,856; the printed 220,676 omits the Boolean modules."],
      },
    },
  ];
}

function claims() {
  const check = (text, verdict, estimate, low, high, p, unit = "points", note = "") => ({
    text,
    expectation: "above",
    expected_low: unit === "times" ? 1 : 0,
    expected_high: null,
    verdict,
    general: {
      verdict,
      too_few: "",
      estimate,
      low,
      high,
      p,
      population: "over 30 splits",
      interval: "",
    },
    here: {
      verdict: "holds",
      too_few: "",
      estimate,
      low,
      high,
      p,
      population: "on these 30 splits",
      interval: "",
    },
    difference: true,
    unit,
    splits: 30,
    seeds: 300,
    covered: "",
    note,
  });
  return [
    {
      id: "F3-1",
      figure: "F3",
      text: "The sparser a monolithic network, the lower its test accuracy.",
      verdict: "holds",
      here: null,
      reason: "50 % over 25 % over 10 % density at every depth.",
      checks: tasks.flatMap((task, at) => [
        check(`${task.name}: sparse 50 % over sparse 25 %`, "holds", 3.4 - at, 1.6 - at, 5.2 - at, 0.0004 + 0.02 * at),
        check(`${task.name}: sparse 25 % over sparse 10 %`, "holds", 6.9 - at, 5.1 - at, 8.8 - at, 0.0001),
      ]),
    },
    {
      id: "F3-2",
      figure: "F3",
      text: "Modular networks test better than sparse ones with as many weights.",
      verdict: "holds",
      here: null,
      reason: "Better at all three depths.",
      checks: tasks.map((task, at) =>
        check(`${task.name}: modular over sparse matched`, "holds", 9.3 - 2 * at, 6.8 - 2 * at, 11.9 - 2 * at, 0.0001),
      ),
    },
    {
      id: "F3-4",
      figure: "F3",
      text: "Shared modules test at least as well as dense networks and as modules of their own.",
      verdict: "fails",
      here: null,
      reason: "At depth 3 dense is ahead by 1.9 points.",
      checks: [
        check("depth1: modular-shared over dense", "holds", 4.2, 2.2, 6.1, 0.0002),
        check("depth2: modular-shared over dense", "holds", 3.1, 1.0, 5.3, 0.004),
        check(
          "depth3: modular-shared over dense",
          "fails",
          -1.9,
          -3.6,
          -0.4,
          0.98,
          "points",
          "Few depth-3 networks find their wiring at all.",
        ),
      ],
    },
    {
      id: "F3-6",
      figure: "F3",
      text: "Monolithic networks overfit at small ratios; modular ones train and test alike.",
      verdict: "undecided",
      here: "holds",
      reason: "The gap of modular networks is 2.1 points, and the interval reaches beyond 3.",
      checks: [
        check("depth2: train minus test, modular", "undecided", 2.1, 0.6, 3.7, 0.12),
        check("depth2: train minus test, dense", "holds", 17.2, 14.9, 19.6, 0.0001),
      ],
    },
    {
      id: "F4-6",
      figure: "F4",
      text: "Networks with fixed connections are the cheapest to train.",
      verdict: "holds",
      here: null,
      reason: "A factor of 2.4 below the next.",
      checks: [check("depth2: dense over modular-shared-fcms", "holds", 25.8, 19.2, 34.6, 0.0001, "times")],
    },
    {
      id: "F5-1",
      figure: "F5",
      text: "Shared modules find a wiring nearer to the true one.",
      verdict: "holds",
      here: null,
      reason: "By 1.2 to 2.9 edits.",
      checks: tasks.map((task, at) =>
        check(
          `${task.name}: modular minus modular-shared`,
          "holds",
          1.2 + 0.8 * at,
          0.7 + 0.8 * at,
          1.8 + 0.8 * at,
          0.0006,
          "edits",
        ),
      ),
    },
    {
      id: "F6-1",
      figure: "F6",
      text: "Shared modules specialise more.",
      verdict: "holds",
      here: null,
      reason: "In every cell but two.",
      checks: [],
    },
    {
      id: "F15",
      figure: "F15",
      text: "Direct top-k selection beats both Gumbel variants.",
      verdict: "holds",
      here: null,
      reason: "",
      checks: [check("gumbel batch", "holds", 5.5, 3.9, 7.1, 0.0001)],
    },
    {
      id: "F16",
      figure: "F16",
      text: "A higher temperature is better.",
      verdict: "undecided",
      here: null,
      reason: "The temperature cannot change what is drawn.",
      checks: [],
    },
    {
      id: "F22",
      figure: "F22",
      text: "More slots and a larger pool do no harm.",
      verdict: "no data",
      here: null,
      reason: "9 slots with a pool of 8 are not trained.",
      checks: [check("9 slots, pool 8 against true counts", "no data", null, null, null, null, "points", "no runs")],
    },
  ];
}

function network(world, task, series, ratio, rank) {
  const goodness = { best: 1, median: 0.6, worst: 0.1 }[rank];
  const base = tasks.find((one) => one.name === task).base_rate;
  const epochs = Array.from({ length: 101 }, (_, at) => at * 10);
  const best = Math.round(900 - 600 * goodness);
  const curve = (top, speed, size) =>
    epochs.map((epoch) => Math.min(100, top - (top - base) * Math.exp((-speed * epoch) / 250) + world.noise(size)));
  const test = rank === "best" ? 100 : base + (100 - base) * goodness * 0.8;
  return {
    id: `${task}-${series}-${ratio}-${rank}`,
    cell: `${task}, ${series}, ratio ${ratio}`,
    rank,
    series,
    task,
    settings: world.settings(),
    accuracy: { train: Math.min(100, test + 3), validation: Math.min(100, test + 1), test },
    best_epoch: best,
    edit_distance: series.startsWith("dense") ? null : Math.round(7 * (1 - goodness)),
    graph: series.startsWith("dense") ? null : routing(world, task, series.startsWith("modular-shared"), goodness),
    curve: {
      epochs,
      train: curve(Math.min(100, test + 3), 1.6, 1),
      validation: curve(Math.min(100, test + 1), 1.3, 2.5),
      test: curve(test, 1.2, 2.5),
    },
  };
}

function routing(world, task, shared, goodness) {
  const levels = task === "depth1" ? [2] : task === "depth2" ? [3, 2] : [3, 3, 2];
  const gates = ["XOR", "AND", "OR"];
  const nodes = Array.from({ length: 6 }, (_, index) => ({
    id: `x${index}`,
    kind: "input",
    level: 0,
    index,
    label: `x${index}`,
    pool: null,
    gate: null,
    correlation: null,
    surplus: false,
  }));
  const edges = [];
  const letters = ["x", "a", "b", "c"];
  levels.forEach((size, level) => {
    for (let index = 0; index < size; ++index) {
      const before = level === 0 ? 6 : levels[level - 1];
      const sources = level === 0 ? [2 * index, 2 * index + 1] : [index % before, (index + 1) % before];
      const right = world.random() < goodness + 0.05;
      const correlation = right
        ? (world.random() < 0.3 ? -1 : 1) * (0.93 + 0.07 * world.random())
        : 0.2 + 0.5 * world.random();
      nodes.push({
        id: `m${level + 1}.${index}`,
        kind: "module",
        level: level + 1,
        index,
        label: `module ${level + 1}.${index}`,
        pool: shared ? level % 2 : null,
        gate: `${gates[level]}(${sources.map((source) => letters[level] + source).join(",")})`,
        correlation,
        surplus: false,
      });
      sources.forEach((source, at) => {
        const name = (one) => (level === 0 ? `x${one}` : `m${level}.${one}`);
        const to = `m${level + 1}.${index}`;
        if (right || at === 0) {
          edges.push({ from: name(source), to, state: "right" });
        } else {
          edges.push(
            { from: name(source), to, state: "missing" },
            { from: name((source + 1) % before), to, state: "wrong" },
          );
        }
      });
    }
  });
  if (goodness < 0.9) {
    nodes.push({
      id: "m1.spare",
      kind: "module",
      level: 1,
      index: levels[0],
      label: `module 1.${levels[0]}`,
      pool: shared ? 1 : null,
      gate: null,
      correlation: null,
      surplus: true,
    });
    edges.push({ from: "x1", to: "m1.spare", state: "wrong" }, { from: "x4", to: "m1.spare", state: "wrong" });
    edges.push({ from: "x5", to: "m1.0", state: "free" });
  }
  for (let index = 0; index < 2; ++index) {
    nodes.push({
      id: `y${index}`,
      kind: "output",
      level: levels.length + 1,
      index,
      label: `y${index}`,
      pool: null,
      gate: null,
      correlation: null,
      surplus: false,
    });
    edges.push({ from: `m${levels.length}.${index}`, to: `y${index}`, state: "right" });
  }
  return { nodes, edges };
}

export function finished() {
  const world = makeWorld(7);
  return {
    study: "boolean",
    title: "Boolean functions: when are modular networks better?",
    about:
      "Dense, sparse and modular networks learn three Boolean functions of known structure from a growing share of their truth tables. Which of them generalise, what does it cost, and do the modular ones find the structure?",
    preset: "quick",
    preset_about: "Fewer settings and seeds; about a minute on two cores.",
    paper: "A paper, 2025",
    level: 0.9,
    version: "0.1.0",
    overview: {
      planned: 5670,
      done: 5670,
      diverged: 3,
      core_seconds: 118.4,
      threads: 2,
      machine: "Intel Xeon at 2.80 GHz, AVX-512",
      overrides: ["epochs=1000"],
      missing: [],
      series: all.map((name) => ({ name, runs: 630, settings: name.includes("fc") ? 4 : 10 })),
    },
    tasks,
    claims: claims(),
    figures: figures(world),
    gallery: ["depth1", "depth2", "depth3"].flatMap((task) =>
      ["modular", "modular-shared", "dense"].flatMap((series) =>
        [0.3, 0.5].flatMap((ratio) =>
          ["best", "median", "worst"].map((rank) => network(world, task, series, ratio, rank)),
        ),
      ),
    ),
    chosen: tasks.flatMap((task) =>
      all.flatMap((series) =>
        ratios.flatMap((ratio) =>
          [40, 41, 42].map((split) => ({
            series,
            cell: `${task.name}, ratio ${ratio}`,
            split,
            settings: world.settings(),
            validation: Math.min(100, 60 + 60 * ratio + world.noise(2)),
            tied: 1 + Math.floor(world.random() * 3),
          })),
        ),
      ),
    ),
  };
}

// Stopped half-way: two series are missing, some cells have no value.
export function halfway() {
  const report = finished();
  report.overview = {
    ...report.overview,
    done: 3420,
    core_seconds: 4521.7,
    missing: [
      { series: "modular-fc", planned: 630, done: 12 },
      { series: "modular-shared-fcms", planned: 630, done: 0 },
    ],
  };
  for (const figure of report.figures) {
    figure.rows = figure.rows.filter(
      (row) => row.series !== "modular-shared-fcms" && !(row.series === "modular-fc" && row.x > 0.1),
    );
    for (const row of figure.rows) {
      if (row.x === 0.2 && row.values.test) {
        row.values.test = { mean: null, within: null, between: null, n: 0, runs: [] };
      }
    }
  }
  report.claims = report.claims.map((claim) =>
    claim.id === "F4-6" ? { ...claim, verdict: "no data", reason: "No runs of modular-fc.", checks: [] } : claim,
  );
  return report;
}

export function empty() {
  const { claims: list, figures: drawn, ...report } = finished();
  return {
    ...report,
    overview: {
      ...report.overview,
      done: 0,
      diverged: 0,
      core_seconds: 0,
      threads: null,
      machine: "",
      series: [],
      missing: all.map((series) => ({ series, planned: 630, done: 0 })),
    },
    claims: list.map((claim) => ({ ...claim, verdict: "no data", reason: "no runs yet", checks: [] })),
    figures: drawn.map((figure) => ({
      ...figure,
      rows: [],
      ...(figure.table ? { table: { ...figure.table, rows: [] } } : {}),
    })),
    gallery: [],
    chosen: [],
  };
}

export const hostileName = "<img src=x onerror=alert(1)>";

// Names with HTML, quotes and line ends wherever a user can put one.
export function hostile() {
  const text = JSON.stringify(finished())
    .replaceAll('"depth2"', JSON.stringify(hostileName))
    .replaceAll("depth2,", `${hostileName},`)
    .replaceAll('"modular-fc"', JSON.stringify("</script><script>alert(2)</script>"))
    .replaceAll("XOR(x0,x1)", "<b onmouseover=alert(3)>XOR</b>");
  const report = JSON.parse(text);
  report.title = 'A & B <i>study</i> \u2028 "quoted"';
  report.about = "<style>*{display:none}</style>";
  report.overview.machine = "<svg onload=alert(4)>";
  report.chosen[0].settings = 'lr 0.1, note "a,b"\n<b>';
  return report;
}

export const samples = { finished, halfway, empty, hostile };

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  process.stdout.write(JSON.stringify(samples[process.argv[2] ?? "finished"]()));
}
