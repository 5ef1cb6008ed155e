// Reports of a study on images of digits: a finished one, and one in which everything is broken or missing.
import { hostileName, makeRandom } from "./sample.mjs";

const kSize = 28;
const kDigits = 8;
const kBits = 3;
const kExamples = 10;

// Digits as pen strokes in a square of side 1.
const strokes = [
  [Array.from({ length: 17 }, (_, at) => [0.5 + 0.22 * Math.sin(at * 0.393), 0.5 + 0.34 * Math.cos(at * 0.393)])],
  [
    [
      [0.42, 0.26],
      [0.54, 0.16],
      [0.52, 0.84],
    ],
  ],
  [
    [
      [0.3, 0.3],
      [0.42, 0.17],
      [0.6, 0.2],
      [0.66, 0.36],
      [0.5, 0.58],
      [0.28, 0.82],
      [0.72, 0.8],
    ],
  ],
  [
    [
      [0.3, 0.2],
      [0.56, 0.16],
      [0.66, 0.3],
      [0.46, 0.46],
      [0.68, 0.62],
      [0.56, 0.82],
      [0.28, 0.8],
    ],
  ],
  [
    [
      [0.36, 0.18],
      [0.28, 0.54],
      [0.7, 0.52],
    ],
    [
      [0.62, 0.2],
      [0.58, 0.86],
    ],
  ],
  [
    [
      [0.68, 0.18],
      [0.38, 0.2],
      [0.34, 0.46],
      [0.58, 0.44],
      [0.68, 0.62],
      [0.54, 0.82],
      [0.3, 0.78],
    ],
  ],
  [
    [
      [0.58, 0.14],
      [0.38, 0.4],
      [0.32, 0.68],
      [0.48, 0.84],
      [0.64, 0.72],
      [0.58, 0.54],
      [0.36, 0.6],
    ],
  ],
  [
    [
      [0.28, 0.2],
      [0.7, 0.18],
      [0.52, 0.5],
      [0.42, 0.86],
    ],
  ],
];

function distance([x, y], [fromX, fromY], [toX, toY]) {
  const [dx, dy] = [toX - fromX, toY - fromY];
  const share = Math.min(Math.max(((x - fromX) * dx + (y - fromY) * dy) / (dx * dx + dy * dy || 1), 0), 1);
  return Math.hypot(x - fromX - share * dx, y - fromY - share * dy);
}

// One digit by a somewhat different hand every time, as base64.
function drawDigit(digit, random) {
  const [slant, size, width] = [0.5 * (random() - 0.5), 0.85 + 0.2 * random(), 0.035 + 0.03 * random()];
  const wobble = strokes[digit].map((line) =>
    line.map(([x, y]) => {
      const [h, v] = [(x - 0.5) * size + 0.03 * (random() - 0.5), (y - 0.5) * size + 0.03 * (random() - 0.5)];
      return [0.5 + h - slant * v, 0.5 + v];
    }),
  );
  const pixels = Buffer.alloc(kSize * kSize);
  for (let row = 0; row < kSize; ++row) {
    for (let column = 0; column < kSize; ++column) {
      const place = [(column + 0.5) / kSize, (row + 0.5) / kSize];
      const nearest = Math.min(
        ...wobble.flatMap((line) => line.slice(1).map((point, at) => distance(place, line[at], point))),
      );
      pixels[row * kSize + column] = Math.round(255 * Math.min(Math.max((width + 0.03 - nearest) / 0.03, 0), 1));
    }
  }
  return pixels.toString("base64");
}

const bit = (digit, place) => (digit >> place) & 1;

// Outputs of the tasks, from the digits: XOR of two bits each, then AND of neighbours.
const tasks = {
  "mnist-xor-and": {
    images: 2,
    reads: [
      [0, 1],
      [0, 1],
      [0, 1],
    ],
  },
  "mnist-three": {
    images: 3,
    reads: [
      [0, 1],
      [1, 2],
      [0, 2],
    ],
  },
  "mnist-four": {
    images: 4,
    reads: [
      [0, 1],
      [1, 2],
      [2, 3],
    ],
  },
};

function truthOf(task, digits) {
  const gates = tasks[task].reads.map(([one, other], at) => bit(digits[one], 2 - at) ^ bit(digits[other], 2 - at));
  return [gates[0] & gates[1], gates[1] & gates[2]];
}

function combinationsOf(task, goodness, random) {
  const { images } = tasks[task];
  return Array.from({ length: kDigits ** images }, (_, row) => {
    const digits = Array.from({ length: images }, (_, at) => Math.floor(row / kDigits ** (images - 1 - at)) % kDigits);
    const draw = random();
    const part = draw < 0.6 ? "train" : draw < 0.72 ? "validation" : "unseen";
    const lost = part === "train" ? 1 + 3 * (1 - goodness) : 2 + 55 * (1 - goodness);
    return { digits, part, accuracy: Math.min(100, Math.max(30, 101 - lost * (0.1 + 1.6 * random() ** 2))) };
  });
}

function examplesOf(task, goodness, random) {
  return Array.from({ length: kExamples }, (_, at) => {
    const digits = Array.from({ length: tasks[task].images }, () => Math.floor(random() * kDigits));
    const truth = truthOf(task, digits);
    return {
      digits,
      part: at % 3 === 2 ? "train" : at === 7 ? "validation" : "unseen",
      pixels: digits.map((digit) => drawDigit(digit, random)),
      truth,
      says: truth.map((value) => {
        const sure = 0.5 + 0.499 * random() ** 0.3;
        return random() < 0.55 + 0.45 * goodness === Boolean(value) ? sure : 1 - sure;
      }),
    };
  });
}

function moduleOf(name, reads, goodness, random) {
  const order = [2, 0, 1];
  return {
    name,
    reads,
    means: order.map((place, output) =>
      Array.from({ length: kDigits }, (_, digit) => {
        const clean = output === 1 ? 1 - bit(digit, place) : bit(digit, place);
        return goodness * clean + (1 - goodness) * random() * 0.9 + 0.02 * random();
      }),
    ),
    specialisation: Math.min(1, 0.3 + 0.68 * goodness),
  };
}

// A network's wiring: images, the values of a slot for each of them, two levels of modules, outputs.
function routing(task, shared, goodness, random) {
  const { images, reads } = tasks[task];
  const blank = { pool: null, gate: null, correlation: null, surplus: false };
  const nodes = [];
  const edges = [];
  const correlation = (right) => (right ? (random() < 0.3 ? -1 : 1) * (0.93 + 0.07 * random()) : 0.2 + 0.4 * random());
  const letters = "abcd";
  for (let image = 0; image < images; ++image) {
    nodes.push({ ...blank, id: `i${image}`, kind: "image", level: 0, index: image, label: `image ${image + 1}` });
    const order = [1, 2, 0];
    const lost = image === images - 1 && goodness < 0.3; // reads an image that another slot reads already
    order.forEach((place, value) => {
      nodes.push({
        ...blank,
        id: `v${image}.${value}`,
        kind: "value",
        level: 1,
        index: image * kBits + value,
        label: `image slot ${image + 1}, value ${value + 1}`,
        pool: shared ? 0 : null,
        gate: lost && value === 2 ? null : `bit ${place} of image ${image + 1}`,
        correlation: lost && value === 2 ? null : correlation(!lost && random() < goodness + 0.3),
        surplus: lost && value === 2,
      });
      edges.push({ from: `i${lost ? 0 : image}`, to: `v${image}.${value}`, state: lost ? "wrong" : "right" });
      if (lost && value !== 2) {
        edges.push({ from: `i${image}`, to: `v${image}.${value}`, state: "missing" });
      }
    });
  }
  const valueOf = (image, place) => `v${image}.${[1, 2, 0].indexOf(place)}`;
  const module = (level, index, gate, from, right) => {
    const id = `m${level}.${index}`;
    nodes.push({
      ...blank,
      id,
      kind: "module",
      level,
      index,
      label: `${level}.${index}`,
      pool: shared ? level - 2 : null,
      gate,
      correlation: correlation(right),
    });
    from.forEach((one, at) => {
      edges.push({ from: one, to: id, state: right || at === 0 ? "right" : "missing" });
    });
    if (!right) {
      edges.push({ from: level === 2 ? "v0.0" : "m2.0", to: id, state: "wrong" });
    }
  };
  reads.forEach(([one, other], at) => {
    const place = 2 - at;
    const gate = `XOR(${letters[one]}${place},${letters[other]}${place})`;
    module(2, at, gate, [valueOf(one, place), valueOf(other, place)], at === 1 || random() < goodness + 0.1);
  });
  for (let output = 0; output < 2; ++output) {
    module(3, output, `AND(t${output},t${output + 1})`, [`m2.${output}`, `m2.${output + 1}`], true);
    nodes.push({ ...blank, id: `y${output}`, kind: "output", level: 4, index: output, label: `u${output}` });
    edges.push({ from: `m3.${output}`, to: `y${output}`, state: "right" });
  }
  return { nodes, edges };
}

function network(task, series, ratio, rank, seed) {
  const random = makeRandom(seed);
  const modular = series.startsWith("modular");
  const shared = series === "modular-shared";
  const goodness = { best: 1, median: 0.75, worst: 0.15 }[rank] * (modular ? 1 : 0.5);
  const { images } = tasks[task];
  const combinations = combinationsOf(task, goodness, random);
  const mean = (part) => {
    const values = combinations.filter((one) => one.part === part).map((one) => one.accuracy);
    return values.reduce((sum, value) => sum + value, 0) / values.length;
  };
  const epochs = Array.from({ length: 51 }, (_, at) => at * 4);
  const curve = (top, speed) =>
    epochs.map((epoch) => Math.min(100, top - (top - 70) * Math.exp((-speed * epoch) / 40) + 2 * (random() - 0.5)));
  const unseen = mean("unseen");
  const seen = mean("train");
  return {
    id: `${task}-${series}-${ratio}-${rank}`,
    cell: `${task}, ${series}, ratio ${ratio}`,
    rank,
    series,
    task,
    settings: "lr 0.001, lr_structural 0.01, batch 100, split 40, seed 1",
    accuracy: { train: 99.8, validation: mean("validation"), test: unseen, seen },
    best_epoch: 160,
    edit_distance: modular ? Math.round(9 * (1 - goodness)) : null,
    graph: modular ? routing(task, shared, goodness, random) : null,
    curve: {
      epochs,
      train: curve(99.8, 1.6),
      validation: curve(mean("validation"), 1.2),
      test: curve(unseen, 1),
      seen: curve(seen, 1.4),
    },
    images: {
      digits: kDigits,
      images,
      outputs: ["u0", "u1"],
      rows: kSize,
      columns: kSize,
      modules: !modular
        ? []
        : shared
          ? [
              moduleOf(
                "shared image module",
                images === 2 ? "image 1 and image 2" : `image 1 to image ${images}`,
                goodness,
                random,
              ),
            ]
          : Array.from({ length: images }, (_, at) =>
              moduleOf(`image module ${at + 1}`, `image ${at + 1}`, goodness, random),
            ),
      combinations,
      examples: examplesOf(task, goodness, random),
    },
  };
}

const series = ["mlp", "modular", "modular-shared"];

function figure(random) {
  const measure = (name, label, unit, domain) => ({ name, label, unit, log: false, domain, higher_is_better: true });
  const value = (mean) => ({ mean, within: 1, between: 1.5, n: 9 });
  return {
    id: "F7",
    paper: "Figure 7",
    kind: "lines",
    title: "Unseen combinations of digits",
    about: "Accuracy on combinations that were never trained on, and on those that were, with other images.",
    x: { name: "ratio", label: "Training ratio", ordinal: false },
    y: null,
    panel: null,
    row: null,
    series: { name: "architecture", label: "Architecture", ordinal: true, order: series },
    measures: [
      measure("unseen_accuracy", "Accuracy on unseen combinations", "%", [40, 100]),
      measure("seen_accuracy", "Accuracy on seen combinations", "%", [40, 100]),
      measure("image_specialisation", "Specialisation of image modules", "", [0, 1]),
    ],
    baseline: ["unseen_accuracy", "seen_accuracy"].map((name) => ({
      measure: name,
      panel: null,
      row: null,
      points: [0.2, 0.4, 0.6].map((x) => ({ x, value: 75 })),
    })),
    rows: series.flatMap((name, at) =>
      [0.2, 0.4, 0.6].map((x) => ({
        x,
        series: name,
        values: {
          unseen_accuracy: value(70 + 12 * at + 10 * x * random()),
          seen_accuracy: value(97 + random()),
          image_specialisation: value(0.3 * at + 0.2),
        },
      })),
    ),
  };
}

export function digits() {
  return {
    study: "mnist",
    title: "Digits: do modular networks read combinations they never saw?",
    about: "Networks learn gates over the bits of digits, from images of some combinations of digits.",
    preset: "quick",
    preset_about: "One split.",
    paper: "A paper, 2025",
    level: 0.9,
    version: "0.1.0",
    overview: {
      planned: 90,
      done: 90,
      diverged: 0,
      core_seconds: 4000,
      threads: 2,
      machine: "Intel Xeon at 2.80 GHz, AVX-512",
      overrides: [],
      missing: [],
      series: series.map((name) => ({ name, runs: 30, settings: 4 })),
    },
    tasks: Object.entries(tasks).map(([name, { images }]) => ({
      name,
      about: `${images} images of digits 0 to 7`,
      inputs: images * kBits,
      outputs: 2,
      base_rate: 75,
      gates: [],
    })),
    claims: [],
    figures: [figure(makeRandom(3))],
    gallery: [
      ...["modular-shared", "modular", "mlp"].flatMap((name) =>
        ["best", "median", "worst"].map((rank, at) => network("mnist-xor-and", name, 0.6, rank, 17 + at)),
      ),
      ...["mnist-three", "mnist-four"].flatMap((task) =>
        ["best", "worst"].map((rank, at) => network(task, "modular-shared", 0.6, rank, 29 + at)),
      ),
    ],
    chosen: [],
  };
}

// Networks whose details are empty, too short, of the wrong kind, or full of HTML.
export function brokenDigits() {
  const report = digits();
  const whole = report.gallery[0];
  const broken = (name, change) => {
    const copy = structuredClone(whole);
    change(copy);
    return { ...copy, cell: name, series: name, task: "broken" };
  };
  const details = {
    "nothing at all": (one) => (one.images = {}),
    "empty lists": (one) => Object.assign(one.images, { outputs: [], modules: [], combinations: [], examples: [] }),
    "nulls everywhere": (one) => {
      one.accuracy = { train: null, validation: null, test: null };
      one.images.outputs = [null, 3];
      one.images.modules = [null, { name: null, reads: null, means: [null, [null, "a"], []], specialisation: "x" }];
      one.images.combinations = [null, { digits: null, part: "train" }, { digits: [1, 2], part: "odd", accuracy: 3 }];
      one.images.combinations.push({ digits: [0, 1], part: "unseen", accuracy: null });
      one.images.examples = [null, { digits: [4, null], part: "unseen", pixels: null, truth: null, says: [null, 0.2] }];
      one.curve.seen = null;
    },
    "wrong pixels": (one) => {
      one.images.examples[0].pixels = ["AAAA", "not base64 at all!"];
      one.images.examples[1].pixels = [];
    },
    "wrong sizes": (one) => Object.assign(one.images, { digits: -3, images: "two", rows: 1e9, columns: null }),
    hostile: (one) => {
      one.images.outputs = [hostileName, "</script><script>alert(5)</script>"];
      one.images.modules[0].name = hostileName;
      one.images.modules[0].reads = "<b onmouseover=alert(6)>image</b>";
      one.images.examples[0].pixels = [hostileName, "javascript:alert(7)"];
      for (const node of one.graph.nodes.filter((node) => node.kind === "value")) {
        node.label = `${hostileName} slot 1, value ${node.index}`;
      }
    },
    "an odd graph": (one) => {
      one.graph.nodes = one.graph.nodes.filter((node) => node.kind !== "image");
      one.graph.nodes.forEach((node) => (node.label = node.kind === "value" ? "" : node.label));
    },
  };
  report.gallery = Object.entries(details).map(([name, change]) => broken(name, change));
  return report;
}

export const digitSamples = { digits, brokenDigits };
