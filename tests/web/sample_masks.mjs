// Reports of a study of masked networks, whose masks are made up here.
import { hostileName, makeRandom } from "./sample.mjs";

const kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

// [weight] the set of targets that keep it, as a number.
function randomSets(weights, targets, share, random) {
  return Array.from({ length: weights }, () => {
    let set = 0;
    for (let target = 0; target < targets; ++target) {
      set += random() < share ? 2 ** target : 0;
    }
    return set;
  });
}

const bits = (set) => [...set.toString(2)].filter((bit) => bit === "1").length;

// As the program writes it.
function lettersOf(sets, targets) {
  return sets
    .map((set) => {
      let letters = "";
      for (let first = 0; first < targets; first += 6) {
        letters += kLetters[Math.floor(set / 2 ** first) % 64];
      }
      return letters;
    })
    .join("");
}

function sharingOf(sets, first, second) {
  const has = (set, target) => Math.floor(set / 2 ** target) % 2 === 1;
  const both = sets.filter((set) => has(set, first) && has(set, second)).length;
  const either = sets.filter((set) => has(set, first) || has(set, second)).length;
  const smaller = Math.min(...[first, second].map((target) => sets.filter((set) => has(set, target)).length));
  return { iou: both / (either || 1), iomin: both / (smaller || 1), iou_chance: 0.15, iomin_chance: 0.3 };
}

function tensorOf(name, rows, columns, targets, random, share = 0.3) {
  const sets = randomSets(rows * columns, targets, share, random);
  return {
    name,
    weights: rows * columns,
    kept: [
      sets.filter(Boolean).length,
      ...Array.from({ length: targets }, (_, at) => sets.filter((set) => Math.floor(set / 2 ** at) % 2).length),
    ],
    sharing: targets > 1 ? sharingOf(sets, 0, 1) : null,
    picture: { rows, columns, down: rows, across: columns, letters: lettersOf(sets, targets) },
  };
}

// Of a network too large to show every weight: shares of what each target alone keeps, and of what several keep.
function blocksOf(name, rows, columns, targets, random) {
  const [down, across] = [Math.min(rows, 48), Math.min(columns, 48)];
  const letters = Array.from({ length: down * across * (targets + 1) }, () => kLetters[Math.floor(20 * random())]);
  // Shares are rounded, so that a full block may come to more than all of it.
  letters.splice(0, 3, "/", "B", "A");
  return {
    name,
    weights: rows * columns,
    kept: Array.from({ length: targets + 1 }, () => Math.floor(0.2 * rows * columns)),
    sharing: { iou: 0.4, iomin: 0.6, iou_chance: 0.1, iomin_chance: 0.2 },
    picture: { rows, columns, down, across, letters: letters.join("") },
  };
}

const histogram = (random) => Array.from({ length: 20 }, (_, bin) => Math.floor((bin % 19 ? 10 : 900) * random()) + 1);

function networkOf(targets, tensors, more = {}, seed = 1) {
  const random = makeRandom(seed);
  const percents = () => targets.map(() => Math.round(100 * random()));
  return {
    id: `run${seed}`,
    rank: "median",
    settings: `split 40, seed ${seed}`,
    inputs: [],
    outputs: [],
    beta: 0.003,
    targets,
    unmasked: targets.map(() => 100),
    control: true,
    masks: ["all", ...targets].map((name, at) => ({
      name,
      accuracy: percents(),
      inverse: percents(),
      confusion: null,
      inverse_confusion: null,
      ambiguous: 12.5,
      again: at ? 0.95 : null,
      untrained: at ? 60 : null,
      histogram: histogram(random),
    })),
    tensors,
    sharing: { iou: 0.3, iomin: 0.5, iou_chance: 0.2, iomin_chance: 0.25 },
    exact: true,
    betas: null,
    warnings: [],
    ...more,
  };
}

// What a perfect mask of the operation does: its own questions, and the other's with its result.
function withAnswers(network) {
  return {
    ...network,
    masks: network.masks.map((mask, at) => ({
      ...mask,
      confusion: [0, 1].map((asked) =>
        at === 0 || at - 1 === asked ? [0, 1, 2].map((one) => (one === asked ? 98 : 1)) : [10 + asked, 80, 10 - asked],
      ),
      inverse_confusion: [
        [20, 30, 50],
        [5, 6, 89],
      ],
    })),
  };
}

const cellOf = (task, series, networks, runs = 10) => ({ task, series, cell: `${series}, ${task}`, runs, networks });

function denseNetwork(rank, seed) {
  const random = makeRandom(seed);
  const names = ["y0", "y1", "y2", "y3"];
  return networkOf(
    names,
    [
      tensorOf("layer0.weight", 12, 4, 4, random),
      tensorOf("layer1.weight", 10, 12, 4, random, 0.15),
      tensorOf("layer2.weight", 4, 10, 4, random),
    ],
    { rank, inputs: ["x0", "x1", "x2", "x3"], outputs: names },
    seed,
  );
}

function moduleNetwork() {
  const random = makeRandom(5);
  return networkOf(
    ["y0", "y1"],
    [0, 1].flatMap((module) => [
      tensorOf(`pool.module${module}.layer0.weight`, 12, 2, 2, random),
      tensorOf(`pool.module${module}.layer1.weight`, 1, 12, 2, random),
    ]),
    {},
    5,
  );
}

function largeNetwork() {
  const random = makeRandom(6);
  return withAnswers(
    networkOf(
      ["add", "mul"],
      [
        blocksOf("layers.0.weight", 2000, 44, 2, random),
        blocksOf("layers.1.weight", 2000, 2000, 2, random),
        blocksOf("layers.2.weight", 20, 2000, 2, random),
      ],
      {
        exact: false,
        betas: [1e-6, 1e-4, 1e-2, 1].map((beta, at) => ({
          beta,
          kept: 80 - 25 * at,
          accuracy: 100 - at * at,
          ambiguous: 30 - 5 * at,
        })),
        beta: 1e-4,
        warnings: ["the control mask keeps little"],
      },
      6,
    ),
  );
}

// Tasks one after the other: no control, and what later masks take over.
function transferNetwork() {
  const random = makeRandom(8);
  const names = ["T1", "T2", "T3"];
  const tensors = [
    { ...blocksOf("layers.0.weight", 100, 784, 3, random), sharing: null, earlier: [null, null, null] },
    {
      ...blocksOf("layers.1.weight", 100, 100, 3, random),
      earlier: [null, { shared: 0.28, by_chance: 0.2 }, { shared: 0.57, by_chance: 0.31 }],
    },
  ].map((tensor) => ({ ...tensor, kept: tensor.kept.slice(1) }));
  const network = networkOf(names, tensors, { exact: false, control: false }, 8);
  const learned = (values, at) => values.map((value, target) => (target <= at ? value : null));
  return {
    ...network,
    masks: network.masks.slice(1).map((mask, at) => ({
      ...mask,
      accuracy: learned(mask.accuracy, at),
      inverse: learned(mask.inverse, at),
      again: null,
      untrained: null,
    })),
  };
}

// Classes, and masks that never saw one of them: it is taken for the next one.
function classNetwork() {
  const random = makeRandom(9);
  const classes = ["airplane", "cat", "dog", ...Array.from({ length: 7 }, (_, at) => `other${at}`)];
  const removed = ["cat", "dog"];
  const share = (isMissing, step) => (isMissing ? ({ 0: 30, 1: 70 }[step] ?? 0) : step ? 10 / 9 : 90);
  const confusion = (missing) =>
    classes.map((right, row) => classes.map((_, said) => share(right === missing, said - row)));
  const network = networkOf(
    removed.map((name) => `without ${name}`),
    [blocksOf("features.0.weight", 32, 27, 2, random), blocksOf("out_layer.weight", 10, 256, 2, random)],
    { exact: false, classes },
    9,
  );
  return {
    ...network,
    masks: network.masks.map((mask, at) => ({ ...mask, class_confusion: confusion(removed[at - 1]) })),
  };
}

// The store of an older version: what masks came to, without the masks.
function withoutPictures(network) {
  return {
    ...network,
    exact: false,
    warnings: ["one", "two", "three"],
    masks: network.masks.map((mask) => ({ ...mask, histogram: null, inverse_confusion: null })),
    tensors: network.tensors.map((tensor) => ({ ...tensor, picture: null })),
  };
}

export function masks() {
  return {
    study: "masks-boolean",
    title: "What do masks share?",
    about: "Networks that are masked.",
    preset: "quick",
    preset_about: "Few splits.",
    paper: "",
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
      series: ["dense", "modular-shared"].map((name) => ({ name, runs: 10, settings: 1 })),
    },
    tasks: [],
    claims: [],
    figures: [],
    gallery: [],
    masks: [
      cellOf("sculpt/4-2-4", "dense", [denseNetwork("median", 2), denseNetwork("least", 3), denseNetwork("most", 4)]),
      cellOf("depth2", "modular-shared", [moduleNetwork()]),
      cellOf("add-mul", "FNN", [largeNetwork()]),
      cellOf("add-mul", "older", [withoutPictures(largeNetwork())]),
      cellOf("permuted-mnist", "transfer", [transferNetwork()]),
      cellOf("cifar10", "CNN", [classNetwork()]),
    ],
    chosen: [{ series: "dense", cell: "depth2", split: 40, settings: "", validation: 99, tied: 1 }],
  };
}

// How many edges of the first three tensors belong to each target alone and, last, to several.
export function edgesByKeeper(network) {
  const counts = new Array(network.targets.length + 1).fill(0);
  for (const { picture } of network.tensors) {
    for (const letter of picture.letters) {
      const set = kLetters.indexOf(letter);
      if (set) {
        ++counts[bits(set) > 1 ? network.targets.length : Math.log2(set)];
      }
    }
  }
  return counts;
}

// Networks whose details are empty, of another shape or kind, too many, or full of HTML.
export function brokenMasks() {
  const report = masks();
  const many = Array.from({ length: 50 }, (_, at) => `target ${at}`);
  const changes = {
    "no lists": ({ targets }) => ({ targets }),
    "one target": () =>
      networkOf(["y0"], [tensorOf("layer0.weight", 3, 4, 1, makeRandom(9))], { sharing: null, outputs: ["a"] }),
    "many targets": () =>
      networkOf(many, [tensorOf("layer0.weight", 6, 5, 50, makeRandom(8))], { rank: "least", outputs: many }),
    "letters missing": (one) => ({
      ...one,
      tensors: one.tensors.map((tensor) => ({ ...tensor, picture: { ...tensor.picture, letters: "AB" } })),
    }),
    "odd letters": (one) => ({
      ...one,
      tensors: one.tensors.map((tensor) => ({
        ...tensor,
        picture: { ...tensor.picture, letters: tensor.picture.letters.replace(/./g, "?") },
      })),
    }),
    "no chain": (one) => ({ ...one, tensors: [one.tensors[0], one.tensors[2]] }),
    "too large": (one) => ({
      ...one,
      tensors: one.tensors.map((tensor) => ({ ...tensor, picture: { ...tensor.picture, down: 1e9, rows: 1e9 } })),
    }),
    "wrong kinds": (one) => ({
      ...one,
      rank: "odd",
      beta: "much",
      unmasked: "all",
      sharing: { iou: "a" },
      betas: [null, { beta: -1 }, { beta: 1, kept: "a" }, 3],
      warnings: [1, null],
      masks: [{ name: 7, accuracy: [1e308, -5, "a"], histogram: ["a"], confusion: [[1]] }, null],
      tensors: [{ name: 3, weights: -2, kept: "all", sharing: null, picture: [] }],
    }),
    "odd classes": (one) => ({
      ...one,
      classes: [hostileName, 3],
      masks: one.masks.map((mask, at) => ({
        ...mask,
        class_confusion: [
          [[90, 10], [1e308, -5]],
          [[1, 2, 3], [4]],
          "all",
        ][at % 3],
      })),
    }),
    "one beta": (one) => ({ ...one, betas: [{ beta: 0.1, kept: 5, accuracy: 5, ambiguous: 5 }] }),
    "empty histogram": (one) => ({
      ...one,
      masks: one.masks.map((mask) => ({ ...mask, histogram: Array(20).fill(0) })),
    }),
    hostile: (one) => ({
      ...one,
      id: hostileName,
      targets: one.targets.map(() => hostileName),
      outputs: one.targets.map(() => hostileName),
      warnings: [hostileName],
      tensors: one.tensors.map((tensor) => ({ ...tensor, name: hostileName })),
    }),
  };
  report.masks = Object.entries(changes).map(([name, change]) =>
    cellOf("depth2", name, [change(denseNetwork("least", 2)), denseNetwork("most", 3)]),
  );
  report.masks.push(null, {}, { networks: [null, 3, {}] });
  return report;
}

export const maskSamples = { masks, brokenMasks };
