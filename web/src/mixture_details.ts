// What came with networks on rules, as moments of their training, and freed of what cannot be drawn.
import { list, numberOrNull, records, text, whole } from "./given";
import type { Mixture, MixtureCell, UseCurves } from "./report";
import { isNumber } from "./report";

const kLargestSide = 64; // of a matrix that is drawn
const kMostMoments = 500;
const kEndOfTime = 1e12;
const kGates: Mixture["gates"][] = ["oracle", "learned", "uniform", "none"];

export const kUseNames = ["collapse_avg", "collapse_worst", "alignment", "adaptation", "imi"] as const;
export type UseName = (typeof kUseNames)[number];

export interface Moment {
  iteration: number;
  loss: number | null;
  use: Record<UseName, number | null>;
  shares: number[] | null; // [rule * modules + module], from 0 to 1
}

export interface ShownMixture {
  series: string;
  name: string;
  gates: Mixture["gates"];
  id: string;
  seed: number | null;
  runs: number;
  modules: number;
  order: number[];
  moments: Moment[]; // at least one, by their iterations
}

export interface ShownCell {
  task: string;
  series: string;
  cell: string;
  rules: number;
  networks: ShownMixture[];
}

const inRange = (value: number | null): number | null => (value === null ? null : Math.min(Math.max(value, 0), 1));

function sharesOf(value: unknown, size: number): number[] | null {
  const given = list(value);
  return size > 0 && given.length === size && given.every(isNumber)
    ? given.map((share) => Math.min(Math.max(share / 1000, 0), 1))
    : null;
}

function momentsOf(network: Partial<Mixture>, size: number): Moment[] {
  const [use] = records<UseCurves>([network.use]);
  const moments: Moment[] = [];
  list(network.iterations).forEach((iteration, at) => {
    const before = moments[moments.length - 1]?.iteration ?? -1;
    if (isNumber(iteration) && iteration > before && iteration < kEndOfTime && moments.length < kMostMoments) {
      const loss = numberOrNull(list(network.loss)[at]);
      moments.push({
        iteration,
        loss: loss !== null && loss >= 0 ? loss : null,
        use: Object.fromEntries(
          kUseNames.map((name) => [name, inRange(numberOrNull(list(use?.[name])[at]))]),
        ) as Moment["use"],
        shares: sharesOf(list(network.activation)[at], size),
      });
    }
  });
  return moments;
}

function orderOf(value: unknown, modules: number): number[] {
  const own = Array.from({ length: modules }, (_, module) => module);
  const given = list(value);
  return given.length === modules && own.every((module) => given.includes(module)) ? (given as number[]) : own;
}

function networkOf(network: Partial<Mixture>, rules: number): ShownMixture {
  const modules = whole(network.modules);
  const isDrawn = rules <= kLargestSide && modules <= kLargestSide;
  return {
    series: text(network.series),
    name: text(network.name),
    gates: kGates.find((one) => one === network.gates) ?? "none",
    id: text(network.id),
    seed: numberOrNull(network.seed),
    runs: whole(network.runs),
    modules,
    order: isDrawn ? orderOf(network.order, modules) : [],
    moments: momentsOf(network, isDrawn ? rules * modules : 0),
  };
}

// The cells that have anything to show.
export function mixtureCells(value: unknown): ShownCell[] {
  return records<MixtureCell>(value)
    .map((cell) => ({
      task: text(cell.task),
      series: text(cell.series),
      cell: text(cell.cell),
      rules: whole(cell.rules),
      networks: records<Mixture>(cell.networks)
        .map((network) => networkOf(network, whole(cell.rules)))
        .filter((network) => network.moments.length),
    }))
    .filter((cell) => cell.networks.length);
}

// What a network was at an iteration: as it was looked at last.
export function momentAt(network: ShownMixture, iteration: number): Moment {
  const until = network.moments.filter((moment) => moment.iteration <= iteration);
  return until[until.length - 1] ?? network.moments[0]!;
}
