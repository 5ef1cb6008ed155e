// What came with a cell of sculpted networks, with every list in place and nothing in it that cannot be drawn.
import { list, numberOrNull, records, text, whole } from "./given";
import type {
  DrawnLayer,
  DrawnModule,
  PruneStep,
  Sculpted,
  SculptedCell,
  SculptedDrawing,
  SculptedRank,
} from "./report";
import { isNumber } from "./report";

const kRanks: SculptedRank[] = ["typical", "best", "failed"];
const kStages: PruneStep["stage"][] = ["dense", "units", "retrain", "edges"];

function stepsOf(value: unknown): PruneStep[] {
  return records<PruneStep>(value).flatMap((step) => {
    const stage = kStages.find((one) => one === step.stage);
    return stage && isNumber(step.edges) && isNumber(step.accuracy)
      ? [
          {
            stage,
            percent: numberOrNull(step.percent) ?? 0,
            units: whole(step.units),
            edges: step.edges,
            accuracy: step.accuracy,
            accepted: step.accepted === true,
          },
        ]
      : [];
  });
}

function placeOf(value: unknown): [number, number] | null {
  const [x, y] = list(value);
  return isNumber(x) && isNumber(y) ? [x, y] : null;
}

function layerOf(layer: Partial<DrawnLayer>): DrawnLayer {
  return {
    name: text(layer.name),
    y: numberOrNull(layer.y) ?? 0,
    unit_width: whole(layer.unit_width),
    names: list(layer.names).map(text),
    places: list(layer.places).map(placeOf),
  };
}

function moduleOf(module: Partial<DrawnModule>): DrawnModule[] {
  const { left, top, width, height } = module;
  return isNumber(left) && isNumber(top) && isNumber(width) && isNumber(height)
    ? [{ name: text(module.name), truth: numberOrNull(module.truth), left, top, width, height }]
    : [];
}

function drawingOf(value: unknown): SculptedDrawing | null {
  const [given] = records<SculptedDrawing>([value]);
  const layers = records<DrawnLayer>(given?.layers).map(layerOf);
  const networks = list(given?.networks).map(text);
  if (!given || layers.length < 2 || !networks.length || !isNumber(given.width) || !isNumber(given.height)) {
    return null;
  }
  return {
    width: given.width,
    height: given.height,
    unit_height: whole(given.unit_height),
    modules: records<DrawnModule>(given.modules).flatMap(moduleOf),
    layers,
    networks,
    weights: list(given.weights).filter(isNumber),
    crossing: list(given.crossing).filter(isNumber),
  };
}

function networkOf(network: Partial<Sculpted>): Sculpted {
  return {
    id: text(network.id),
    ranks: list(network.ranks).filter((rank): rank is SculptedRank => kRanks.some((one) => one === rank)),
    seed: whole(network.seed),
    epochs: whole(network.epochs),
    accuracy: numberOrNull(network.accuracy) ?? 0,
    success: typeof network.success === "boolean" ? network.success : null,
    edges: numberOrNull(network.edges),
    dense_edges: whole(network.dense_edges),
    units: numberOrNull(network.units),
    dense_units: whole(network.dense_units),
    tied: whole(network.tied),
    tied_true: numberOrNull(network.tied_true),
    unit_step: numberOrNull(network.unit_step),
    edge_step: numberOrNull(network.edge_step),
    command: text(network.command) || null,
    history: stepsOf(network.history),
    drawing: drawingOf(network.drawing),
  };
}

// The cells that have anything to show.
export function sculptedCells(value: unknown): SculptedCell[] {
  return records<SculptedCell>(value)
    .map((cell) => ({
      series: text(cell.series),
      task: text(cell.task),
      cell: text(cell.cell),
      trials: whole(cell.trials),
      learned: whole(cell.learned),
      true_modules: numberOrNull(cell.true_modules),
      networks: records<Sculpted>(cell.networks).map(networkOf),
    }))
    .filter((cell) => cell.networks.length);
}
