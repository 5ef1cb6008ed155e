// A small network whose edges are the weights that masks keep, in the colours of the targets that keep them.
import { el, svg } from "./dom";
import { count, plural } from "./format";
import type { ShownTensor } from "./mask_details";
import type { Keeper } from "./mask_keepers";
import { inBothThemes } from "./swatch";

const kMostEdges = 1600;
const kMostUnits = 96; // of a layer
const kNameWidth = 6.2; // pixels of a letter
const kStep = 9; // from unit to unit, at least
const kNarrowest = 88;
const kMargin = 10;
const kFew = 40; // edges that are drawn at full width; more are thinner, and
const kMany = 1200; // so many are as thin as they get

interface KeptEdge {
  layer: number; // of the unit that it comes from
  from: number;
  to: number;
  keepers: number[];
}

// Layers of weights, each reading what the one before it gives.
export interface LayerChain {
  name: string;
  tensors: ShownTensor[];
}

// Tensors of one network, or of one module of it: "level1.module0.layer0.weight" is of level1.module0.
function moduleOf(name: string): string | null {
  const found = /^(.*?)\.?layers?\.?\d+\.weight$/.exec(name);
  return found ? (found[1] ?? "") : null;
}

function edgesOf(tensors: ShownTensor[]): KeptEdge[] {
  return tensors.flatMap((tensor, layer) =>
    (tensor.picture?.cells ?? []).flatMap((cell, at) =>
      cell.keepers?.length
        ? [
            {
              layer,
              from: at % tensor.picture!.columns,
              to: Math.floor(at / tensor.picture!.columns),
              keepers: cell.keepers,
            },
          ]
        : [],
    ),
  );
}

function fitsTogether(tensors: ShownTensor[]): boolean {
  return tensors.every(
    ({ picture }, at) =>
      picture &&
      picture.rows <= kMostUnits &&
      picture.columns <= kMostUnits &&
      (at === 0 || tensors[at - 1]?.picture?.rows === picture.columns),
  );
}

// The chains that can be drawn, or nothing where one of them cannot.
export function layerChains(tensors: ShownTensor[], isExact: boolean): LayerChain[] | null {
  if (!isExact) {
    return null;
  }
  const chains = new Map<string, ShownTensor[]>();
  for (const tensor of tensors) {
    const module = moduleOf(tensor.name);
    if (module === null) {
      return null;
    }
    chains.set(module, [...(chains.get(module) ?? []), tensor]);
  }
  const all = [...chains].map(([name, members]) => ({ name, tensors: members }));
  const areSmall = all.every((chain) => fitsTogether(chain.tensors) && edgesOf(chain.tensors).length <= kMostEdges);
  return all.length && areSmall ? all : null;
}

interface Layer {
  name: string;
  units: number; // that the network has
  order: number[]; // those that are drawn, from left to right
  names: string[]; // of all units; empty where they have none
}

// Hidden units from those of the first target to those of the last, so that parts of the network lie side by side.
// Units without a kept weight are left out.
function layersOf(chain: LayerChain, edges: KeptEdge[], inputs: string[], outputs: string[]): Layer[] {
  const widths = [chain.tensors[0]?.picture?.columns ?? 0, ...chain.tensors.map(({ picture }) => picture?.rows ?? 0)];
  const sums = widths.map((units) => Array.from({ length: units }, () => ({ place: 0, edges: 0 })));
  for (const edge of edges) {
    const place = edge.keepers.reduce((sum, keeper) => sum + keeper, 0) / edge.keepers.length;
    for (const unit of [sums[edge.layer]?.[edge.from], sums[edge.layer + 1]?.[edge.to]]) {
      if (unit) {
        unit.place += place;
        unit.edges += 1;
      }
    }
  }
  return widths.map((units, layer) => {
    const own = Array.from({ length: units }, (_, unit) => unit);
    const isInput = layer === 0;
    const isOutput = layer === widths.length - 1;
    const given = isInput ? inputs : isOutput ? outputs : [];
    const mean = (unit: number): number => {
      const sum = sums[layer]?.[unit];
      return sum?.edges ? sum.place / sum.edges : 0;
    };
    return {
      name: isInput ? "inputs" : isOutput ? "outputs" : `hidden ${layer}`,
      units,
      order:
        isInput || isOutput
          ? own
          : own.filter((unit) => sums[layer]?.[unit]?.edges).sort((one, other) => mean(one) - mean(other)),
      names: !chain.name && given.length === units ? given : [],
    };
  });
}

export interface MaskNetwork {
  element: HTMLElement;
  show: (keeper: number) => void;
}

export function maskNetwork(
  chain: LayerChain,
  keepers: Keeper[],
  inputs: string[],
  outputs: string[],
  isAlone: boolean,
): MaskNetwork {
  const edges = edgesOf(chain.tensors);
  const layers = layersOf(chain, edges, inputs, outputs);
  const step = isAlone ? 92 : 46; // from layer to layer
  const roomOf = (layer: Layer): number =>
    Math.max(kStep, ...layer.names.map((name) => 8 + kNameWidth * name.length)) * layer.order.length;
  const width = Math.max(isAlone ? 330 : kNarrowest, ...layers.map(roomOf)) + 2 * kMargin;
  const height = (layers.length - 1) * step + 42;
  const y = (layer: number): number => height - 21 - layer * step;
  const places = layers.map(
    (layer) =>
      new Map(
        layer.order.map((unit, at) => [unit, kMargin + ((at + 0.5) / layer.order.length) * (width - 2 * kMargin)]),
      ),
  );
  const pathOf = ({ layer, from, to }: KeptEdge): string =>
    `M${places[layer]?.get(from)?.toFixed(1)},${y(layer) - 3}L${places[layer + 1]?.get(to)?.toFixed(1)},${y(layer + 1) + 3}`;
  const crowd = Math.sqrt(Math.min(Math.max((edges.length - kFew) / (kMany - kFew), 0), 1));
  const several = keepers.length - 1;
  const groups = keepers.map((keeper, at) => {
    const own = edges.filter((edge) => (edge.keepers.length > 1 ? several : edge.keepers[0]) === at);
    return svg("path", {
      class: "kept-edges",
      style: inBothThemes(keeper),
      d: own.map(pathOf).join(""),
      "data-edges": own.length,
      "stroke-width": (keeper.mark === "+" ? 2 - 1.3 * crowd : 1.4 - 0.8 * crowd).toFixed(2),
      "stroke-opacity": (0.9 - 0.45 * crowd).toFixed(2),
      "stroke-dasharray": keeper.dash.join(" ") || null,
    });
  });
  const units = layers.flatMap((layer, at) => {
    const isEnd = at === 0 || at === layers.length - 1;
    return layer.order.map((unit) => {
      const x = places[at]?.get(unit) ?? 0;
      const name = layer.names[unit];
      const touching = edges.filter(
        (edge) => (edge.layer === at && edge.from === unit) || (edge.layer + 1 === at && edge.to === unit),
      );
      const said = keepers
        .map((keeper, place) => ({
          keeper,
          own: touching.filter((edge) => (edge.keepers.length > 1 ? several : edge.keepers[0]) === place).length,
        }))
        .filter(({ own }) => own)
        .map(({ keeper, own }) => `${keeper.name} ${count(own)}`)
        .join(", ");
      return svg(
        "g",
        { class: "kept-unit" },
        svg("circle", { cx: x.toFixed(1), cy: y(at), r: isEnd ? 3.4 : 2.8 }),
        isEnd && name ? svg("text", { x: x.toFixed(1), y: at === 0 ? y(at) + 15 : y(at) - 8 }, name) : null,
        svg("title", {}, `${layer.name}, ${name ?? `unit ${unit + 1}`}: ${said || "no kept weight"}`),
      );
    });
  });
  const words = keepers
    .map((keeper, at) => `${keeper.name} ${count(Number(groups[at]?.dataset.edges ?? 0))}`)
    .join(", ");
  const used = layers
    .slice(1, -1)
    .map((layer) => `${count(layer.order.length)} of ${count(layer.units)}`)
    .join(", ");
  const element = el(
    "figure",
    { class: "kept-network", style: isAlone ? null : `width:${width}px` },
    svg(
      "svg",
      {
        viewBox: `0 0 ${width} ${height}`,
        role: "img",
        "aria-label": `${chain.name || "The network"}: ${plural(edges.length, "kept weight")}: ${words}`,
      },
      // What is shared lies below: it is the most where there are many targets.
      [...groups].reverse(),
      units,
    ),
    el("figcaption", {}, chain.name ? chain.name : `inputs below; hidden units with a kept weight: ${used || "none"}`),
  );
  return {
    element,
    show: (chosen) =>
      groups.forEach((group, at) => group.classList.toggle("kept-hidden", chosen >= 0 && chosen !== at)),
  };
}
