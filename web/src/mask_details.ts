// What came with masked networks, with every list in place and nothing in it that cannot be drawn.
import { list, numberOrNull, records, text, whole } from "./given";
import type {
  BetaPoint,
  MaskedCell,
  MaskedNetwork,
  MaskedRank,
  MaskedTensor,
  Sharing,
  TakenOver,
  TrainedMask,
} from "./report";
import { isNumber } from "./report";

// As src/experiments/mask/mask_picture.h has them.
const kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const kSteps = 63;
const kTargetsPerLetter = 6;
const kMostTargets = 60;
const kMostClasses = 100;
const kMostCells = 16_384; // of a tensor
const kRanks: MaskedRank[] = ["least", "median", "most"];

// Who keeps the weights of a cell: each target alone, and last several of them, as shares of all weights of the cell.
export interface MaskCell {
  shares: number[];
  keepers: number[] | null; // of a single weight, all targets that keep it; null of a block
}

export interface ShownPicture {
  rows: number;
  columns: number;
  down: number;
  across: number;
  cells: MaskCell[]; // row after row
}

export interface ShownTensor {
  name: string;
  weights: number;
  kept: number[]; // by each mask
  sharing: Sharing | null;
  earlier: (TakenOver | null)[]; // by each mask; empty where targets do not follow each other
  picture: ShownPicture | null;
}

export interface ShownMask {
  name: string;
  accuracy: (number | null)[];
  inverse: (number | null)[];
  confusion: number[][] | null;
  inverseConfusion: number[][] | null;
  classConfusion: number[][] | null; // of as many classes as the network has
  ambiguous: number | null;
  again: number | null;
  untrained: number | null;
  histogram: number[] | null;
}

export interface ShownMasked {
  id: string;
  rank: MaskedRank;
  settings: string;
  inputs: string[];
  outputs: string[];
  beta: number | null;
  targets: string[];
  unmasked: (number | null)[];
  classes: string[]; // names; empty where answers are no classes
  masks: ShownMask[];
  tensors: ShownTensor[];
  sharing: Sharing | null;
  isExact: boolean;
  betas: BetaPoint[];
  warnings: string[];
}

export interface ShownMaskedCell {
  task: string;
  series: string;
  cell: string;
  runs: number;
  networks: ShownMasked[];
}

const within = (value: unknown, high: number): number | null =>
  isNumber(value) ? Math.min(Math.max(value, 0), high) : null;
const texts = (value: unknown): string[] => list(value).map(text);
const percents = (value: unknown, size: number): (number | null)[] =>
  Array.from({ length: size }, (_, at) => within(list(value)[at], 100));

function sharingOf(value: unknown): Sharing | null {
  const [given] = records<Sharing>([value]);
  const [iou, iomin] = [within(given?.iou, 1), within(given?.iomin, 1)];
  const [iouChance, iominChance] = [within(given?.iou_chance, 1), within(given?.iomin_chance, 1)];
  return iou === null || iomin === null || iouChance === null || iominChance === null
    ? null
    : { iou, iomin, iou_chance: iouChance, iomin_chance: iominChance };
}

function takenOver(value: unknown): TakenOver | null {
  const [given] = records<TakenOver>([value]);
  const [shared, byChance] = [within(given?.shared, 1), within(given?.by_chance, 1)];
  return shared === null || byChance === null ? null : { shared, by_chance: byChance };
}

function weightCells(letters: string, targets: number): MaskCell[] {
  const perCell = Math.ceil(targets / kTargetsPerLetter);
  return Array.from({ length: letters.length / perCell }, (_, cell) => {
    const keepers: number[] = [];
    for (let target = 0; target < targets; ++target) {
      const letter = letters[cell * perCell + Math.floor(target / kTargetsPerLetter)] ?? "A";
      if ((Math.max(kLetters.indexOf(letter), 0) >> (target % kTargetsPerLetter)) & 1) {
        keepers.push(target);
      }
    }
    const shares = new Array<number>(targets + 1).fill(0);
    if (keepers.length) {
      shares[keepers.length === 1 ? keepers[0]! : targets] = 1;
    }
    return { shares, keepers };
  });
}

function blockCells(letters: string, targets: number): MaskCell[] {
  return Array.from({ length: letters.length / (targets + 1) }, (_, cell) => ({
    shares: Array.from(
      { length: targets + 1 },
      (_, at) => Math.max(kLetters.indexOf(letters[cell * (targets + 1) + at] ?? "A"), 0) / kSteps,
    ),
    keepers: null,
  }));
}

function pictureOf(value: unknown, targets: number, isExact: boolean): ShownPicture | null {
  const [given] = records<NonNullable<MaskedTensor["picture"]>>([value]);
  const [rows, columns, down, across] = [given?.rows, given?.columns, given?.down, given?.across].map(whole) as [
    number,
    number,
    number,
    number,
  ];
  const letters = text(given?.letters);
  const perCell = isExact ? Math.ceil(targets / kTargetsPerLetter) : targets + 1;
  const cells = down * across;
  if (!cells || cells > kMostCells || down > rows || across > columns || letters.length !== cells * perCell) {
    return null;
  }
  return {
    rows,
    columns,
    down,
    across,
    cells: isExact ? weightCells(letters, targets) : blockCells(letters, targets),
  };
}

// Percentages, so many rows and columns of them; otherwise nothing.
function tableOf(value: unknown, down: number, across: number): number[][] | null {
  const rows = list(value).map((row) => list(row).map((share) => within(share, 100)));
  return rows.length === down && rows.every((row) => row.length === across && row.every(isNumber))
    ? (rows as number[][])
    : null;
}
const confusionOf = (value: unknown, targets: number): number[][] | null => tableOf(value, targets, targets + 1);

// By their names, or numbers where they have none.
function classesOf(network: Partial<MaskedNetwork>): string[] {
  const size = list(records<TrainedMask>(network.masks)[0]?.class_confusion).length;
  const names = texts(network.classes);
  return size > kMostClasses ? [] : Array.from({ length: size }, (_, at) => names[at] || `class ${at}`);
}

function maskOf(mask: Partial<TrainedMask>, isControl: boolean, targets: number, classes: number): ShownMask {
  const bins = list(mask.histogram);
  return {
    name: isControl ? "control" : text(mask.name),
    accuracy: percents(mask.accuracy, targets),
    inverse: percents(mask.inverse, targets),
    confusion: confusionOf(mask.confusion, targets),
    inverseConfusion: confusionOf(mask.inverse_confusion, targets),
    classConfusion: classes ? tableOf(mask.class_confusion, classes, classes) : null,
    ambiguous: within(mask.ambiguous, 100),
    again: within(mask.again, 1),
    untrained: within(mask.untrained, 100),
    histogram: bins.length && bins.every(isNumber) ? bins.map((count) => Math.max(count, 0)) : null,
  };
}

// By their weights of the penalty; what has none cannot be placed.
function betasOf(value: unknown): BetaPoint[] {
  return records<BetaPoint>(value)
    .flatMap(({ beta, kept, accuracy, ambiguous }) => {
      const numbers = [kept, accuracy, ambiguous].map((one) => within(one, 100));
      return isNumber(beta) && beta > 0 && numbers.every(isNumber)
        ? [{ beta, kept: numbers[0]!, accuracy: numbers[1]!, ambiguous: numbers[2]! }]
        : [];
    })
    .sort((one, other) => one.beta - other.beta);
}

function networkOf(network: Partial<MaskedNetwork>): ShownMasked | null {
  const targets = texts(network.targets).slice(0, kMostTargets);
  if (!targets.length) {
    return null;
  }
  const isExact = network.exact === true;
  const classes = classesOf(network);
  const hasControl = network.control !== false; // reports of before had one always
  return {
    id: text(network.id),
    rank: kRanks.find((rank) => rank === network.rank) ?? "median",
    settings: text(network.settings),
    inputs: texts(network.inputs),
    outputs: texts(network.outputs),
    beta: numberOrNull(network.beta),
    targets,
    unmasked: percents(network.unmasked, targets.length),
    classes,
    masks: records<TrainedMask>(network.masks)
      .slice(0, targets.length + 1)
      .map((mask, at) => maskOf(mask, hasControl && at === 0, targets.length, classes.length)),
    tensors: records<MaskedTensor>(network.tensors).map((tensor) => ({
      name: text(tensor.name),
      weights: whole(tensor.weights),
      kept: list(tensor.kept).map(whole),
      sharing: sharingOf(tensor.sharing),
      earlier: list(tensor.earlier).map(takenOver),
      picture: pictureOf(tensor.picture, targets.length, isExact),
    })),
    sharing: sharingOf(network.sharing),
    isExact,
    betas: betasOf(network.betas),
    warnings: texts(network.warnings).filter(Boolean),
  };
}

// The cells that have anything to show, their networks from the least shared to the most.
export function maskedCells(value: unknown): ShownMaskedCell[] {
  return records<MaskedCell>(value)
    .map((cell) => ({
      task: text(cell.task),
      series: text(cell.series),
      cell: text(cell.cell),
      runs: whole(cell.runs),
      networks: records<MaskedNetwork>(cell.networks)
        .flatMap((network) => networkOf(network) ?? [])
        .sort((one, other) => kRanks.indexOf(one.rank) - kRanks.indexOf(other.rank)),
    }))
    .filter((cell) => cell.networks.length);
}

// Weights are what most tensors are.
export function tensorName(name: string): string {
  return name.replace(/\.weight$/, "");
}
