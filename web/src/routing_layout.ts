// Where the nodes of a wiring stand: a row for each level, inputs above, outputs below.
import type { RoutingGraph, RoutingNode } from "./report";

const kRowHeight = 92;
const kModuleHeight = 44;
const kPillHeight = 22;
const kTop = 6;
const kSlotMargin = 8;
const kWidths: Partial<Record<RoutingNode["kind"], number>> = { image: 66, value: 48 };

export interface Placed {
  node: RoutingNode;
  x: number;
  y: number;
  width: number;
  height: number;
}

const isTrue = (edge: RoutingGraph["edges"][number]): boolean => edge.state === "right" || edge.state === "missing";

// What a node reads in the true graph.
function trueSources(graph: RoutingGraph, id: string, placed: Map<string, Placed>): Placed[] {
  return graph.edges
    .filter((edge) => edge.to === id && isTrue(edge))
    .flatMap((edge) => placed.get(edge.from) ?? []);
}

// What reads a node in the true graph.
function trueReaders(graph: RoutingGraph, id: string, placed: Map<string, Placed>): Placed[] {
  return graph.edges
    .filter((edge) => edge.from === id && isTrue(edge))
    .flatMap((edge) => placed.get(edge.to) ?? []);
}

function middle(nodes: Placed[]): number | null {
  return nodes.length ? nodes.reduce((sum, node) => sum + node.x, 0) / nodes.length : null;
}

function levelsOf(graph: RoutingGraph): RoutingNode[][] {
  const levels = new Map<number, RoutingNode[]>();
  for (const node of graph.nodes) {
    levels.set(node.level, [...(levels.get(node.level) ?? []), node]);
  }
  return [...levels.entries()]
    .sort(([one], [other]) => one - other)
    .map(([, nodes]) => [...nodes].sort((one, other) => one.index - other.index));
}

// The name of the image slot that gives a value: its label without the value's own number.
export function slotOf(node: RoutingNode): string {
  return node.label.replace(/[^0-9]*[0-9]+[^0-9]*$/, "");
}

// Nodes that stand side by side: the values of a slot, or one node of another kind.
export function groupsOf(level: RoutingNode[]): RoutingNode[][] {
  const slots = new Map<string, RoutingNode[]>();
  for (const node of level) {
    const name = node.kind === "value" ? `slot ${slotOf(node)}` : `node ${node.id}`;
    slots.set(name, [...(slots.get(name) ?? []), node]);
  }
  // Which output of a slot says which bit is chance; the highest bit comes first, as one writes it.
  const byBit = (one: RoutingNode, other: RoutingNode): number =>
    (other.gate ?? "").localeCompare(one.gate ?? "", "en", { numeric: true });
  return [...slots.values()].map((nodes) => [...nodes].sort(byBit));
}

export function arrange(graph: RoutingGraph): { placed: Map<string, Placed>; width: number; height: number } {
  const levels = levelsOf(graph).map(groupsOf);
  const most = Math.max(...levels.map((level) => level.flat().filter((node) => node.kind === "module").length), 1);
  const moduleWidth = most <= 3 ? 102 : most <= 4 ? 84 : 78;
  const widthOf = (node: RoutingNode): number =>
    node.kind !== "module" ? (kWidths[node.kind] ?? 44) : node.surplus && most > 3 ? 52 : moduleWidth;
  const space = (node: RoutingNode): number => widthOf(node) + (node.kind === "value" ? 4 : 10);
  const margin = (group: RoutingNode[]): number => (group[0]?.kind === "value" ? kSlotMargin : 0);
  const needs = (level: RoutingNode[][]): number =>
    level.reduce((sum, group) => group.reduce((part, node) => part + space(node), sum + 2 * margin(group)), 0);
  const width = Math.max(340, ...levels.map(needs));
  const placed = new Map<string, Placed>();
  levels.forEach((level, row) => {
    const needed = needs(level);
    const stretch = Math.min(width / needed, 1.7);
    let left = (width - needed * stretch) / 2;
    // Modules stand where their gates stand in the true graph, whichever slot they are in, so that networks of one cell
    // look alike as far as they are; surplus ones come last.
    const wishOf = (node: RoutingNode): number =>
      node.kind !== "module" && node.kind !== "value"
        ? node.index
        : node.surplus
          ? Infinity
          : (middle(trueSources(graph, node.id, placed)) ?? width);
    const wish = new Map(
      level.map((group) => {
        const wishes = group.map(wishOf).filter((one) => group.length === 1 || one < Infinity);
        return [group, wishes.length ? wishes.reduce((sum, one) => sum + one, 0) / wishes.length : Infinity];
      }),
    );
    [...level]
      .sort((one, other) => (wish.get(one) === wish.get(other) ? 0 : (wish.get(one) ?? 0) - (wish.get(other) ?? 0)))
      .forEach((group) => {
        left += margin(group) * stretch;
        group.forEach((node) => {
          const room = space(node) * stretch;
          left += room;
          placed.set(node.id, {
            node,
            x: left - room / 2,
            y: kTop + kModuleHeight / 2 + row * kRowHeight - (row === 0 ? (kModuleHeight - kPillHeight) / 2 : 0),
            width: widthOf(node),
            height: node.kind === "module" || node.kind === "value" ? kModuleHeight : kPillHeight,
          });
        });
        left += margin(group) * stretch;
      });
  });
  placeAmong("output", (id) => trueSources(graph, id, placed), placed, width);
  placeAmong("image", (id) => trueReaders(graph, id, placed), placed, width);
  return {
    placed,
    width,
    height: kTop * 2 + kModuleHeight + (levels.length - 1) * kRowHeight - (kModuleHeight - kPillHeight) / 2,
  };
}

// An output stands below what it should read, and an image above what should read it, as far as neighbours let them.
function placeAmong(
  kind: RoutingNode["kind"],
  partners: (id: string) => Placed[],
  placed: Map<string, Placed>,
  width: number,
): void {
  const nodes = [...placed.values()].filter(({ node }) => node.kind === kind);
  for (const one of nodes) {
    one.x = middle(partners(one.node.id)) ?? one.x;
  }
  const gap = (nodes[0]?.width ?? 44) + 10;
  nodes.sort((one, other) => one.node.index - other.node.index);
  nodes.forEach((one, at) => {
    const before = nodes[at - 1];
    one.x = Math.max(one.x, before ? before.x + gap : gap / 2);
  });
  const overhang = Math.max(0, (nodes[nodes.length - 1]?.x ?? 0) + gap / 2 - width);
  nodes.forEach((one) => (one.x -= overhang));
}
