// The wiring a network learned, drawn over the true one: inputs above, outputs below.
import { el, svg } from "./dom";
import { kPool } from "./palette";
import type { RoutingGraph, RoutingNode } from "./report";
import { isNumber } from "./report";
import { inBothThemes } from "./swatch";

const kRowHeight = 92;
const kModuleHeight = 44;
const kPillHeight = 22;
const kTop = 6;

interface Placed {
  node: RoutingNode;
  x: number;
  y: number;
  width: number;
  height: number;
}

// What a node reads in the true graph.
function trueSources(graph: RoutingGraph, id: string, placed: Map<string, Placed>): Placed[] {
  return graph.edges
    .filter((edge) => edge.to === id && edge.state !== "wrong")
    .flatMap((edge) => placed.get(edge.from) ?? []);
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

function arrange(graph: RoutingGraph): { placed: Map<string, Placed>; width: number; height: number } {
  const levels = levelsOf(graph);
  const most = Math.max(...levels.map((level) => level.filter((node) => node.kind === "module").length), 1);
  const moduleWidth = most <= 3 ? 102 : most <= 4 ? 84 : 78;
  const widthOf = (node: RoutingNode): number =>
    node.kind !== "module" ? 44 : node.surplus && most > 3 ? 52 : moduleWidth;
  const space = (node: RoutingNode): number => widthOf(node) + 10;
  const width = Math.max(340, ...levels.map((level) => level.reduce((sum, node) => sum + space(node), 0)));
  const placed = new Map<string, Placed>();
  levels.forEach((level, row) => {
    const needed = level.reduce((sum, node) => sum + space(node), 0);
    const stretch = Math.min(width / needed, 1.7);
    let left = (width - needed * stretch) / 2;
    // Modules stand where their gates stand in the true graph, whichever slot they are in, so that networks of one cell
    // look alike as far as they are; surplus ones come last.
    const wish = new Map(
      level.map((node) => [
        node,
        node.kind !== "module"
          ? node.index
          : node.surplus
            ? Infinity
            : (middle(trueSources(graph, node.id, placed)) ?? width),
      ]),
    );
    [...level]
      .sort((one, other) => (wish.get(one) === wish.get(other) ? 0 : (wish.get(one) ?? 0) - (wish.get(other) ?? 0)))
      .forEach((node) => {
        const module = node.kind === "module";
        const room = space(node) * stretch;
        left += room;
        placed.set(node.id, {
          node,
          x: left - room / 2,
          y: kTop + kModuleHeight / 2 + row * kRowHeight - (row === 0 ? (kModuleHeight - kPillHeight) / 2 : 0),
          width: widthOf(node),
          height: module ? kModuleHeight : kPillHeight,
        });
      });
  });
  placeOutputs(graph, placed, width);
  return {
    placed,
    width,
    height: kTop * 2 + kModuleHeight + (levels.length - 1) * kRowHeight - (kModuleHeight - kPillHeight) / 2,
  };
}

// An output stands below what it should read, as far as its neighbours let it.
function placeOutputs(graph: RoutingGraph, placed: Map<string, Placed>, width: number): void {
  const outputs = [...placed.values()].filter(({ node }) => node.kind === "output");
  for (const output of outputs) {
    output.x = middle(trueSources(graph, output.node.id, placed)) ?? output.x;
  }
  const gap = 54;
  outputs.sort((one, other) => one.node.index - other.node.index);
  outputs.forEach((output, at) => {
    const before = outputs[at - 1];
    output.x = Math.max(output.x, before ? before.x + gap : gap / 2);
  });
  const overhang = Math.max(0, (outputs[outputs.length - 1]?.x ?? 0) + gap / 2 - width);
  outputs.forEach((output) => (output.x -= overhang));
}

const kStateNames = { right: "right", wrong: "wrong", missing: "missing" };

function drawEdges(graph: RoutingGraph, placed: Map<string, Placed>): SVGElement[] {
  const into = new Map<string, number[]>();
  graph.edges.forEach((edge, at) => into.set(edge.to, [...(into.get(edge.to) ?? []), at]));
  for (const edges of into.values()) {
    edges.sort(
      (one, other) =>
        (placed.get(graph.edges[one]?.from ?? "")?.x ?? 0) - (placed.get(graph.edges[other]?.from ?? "")?.x ?? 0),
    );
  }
  // What is wrong is drawn last, on top.
  const order = { missing: 0, right: 1, wrong: 2 };
  return graph.edges
    .map((edge, at) => ({ edge, at }))
    .sort((one, other) => order[one.edge.state] - order[other.edge.state])
    .flatMap(({ edge, at }) => {
      const from = placed.get(edge.from);
      const to = placed.get(edge.to);
      if (!from || !to) {
        return [];
      }
      const ports = into.get(edge.to) ?? [at];
      const distance = Math.min(22, (to.width - 16) / Math.max(ports.length, 1));
      const x = to.x + (ports.indexOf(at) - (ports.length - 1) / 2) * distance;
      const [top, bottom] = [from.y + from.height / 2, to.y - to.height / 2];
      const bend = (bottom - top) * 0.5;
      return [
        svg(
          "path",
          {
            class: `edge edge-${edge.state}`,
            d: `M${from.x.toFixed(1)},${top}C${from.x.toFixed(1)},${top + bend} ${x.toFixed(1)},${bottom - bend} ${x.toFixed(1)},${bottom}`,
          },
          svg("title", {}, `${from.node.label} to ${to.node.label}: ${kStateNames[edge.state] ?? edge.state}`),
        ),
      ];
    });
}

function drawNode({ node, x, y, width, height }: Placed): SVGElement {
  const text = (words: string, down: number, size: number, name: string): SVGElement =>
    svg(
      "text",
      {
        class: name,
        x,
        y: y + down,
        "font-size": Math.min(size, (width - 8) / Math.max(words.length * 0.58, 1)).toFixed(2),
      },
      words,
    );
  const colour = node.pool === null ? null : kPool[((node.pool % kPool.length) + kPool.length) % kPool.length];
  const box = svg("rect", {
    x: x - width / 2,
    y: y - height / 2,
    width,
    height,
    rx: node.kind === "module" ? 7 : height / 2,
  });
  if (node.kind !== "module") {
    return svg("g", { class: `node node-${node.kind}` }, box, text(node.label, 4, 12, "node-name"));
  }
  const correlation = isNumber(node.correlation)
    ? `r ${node.correlation <= -0.005 ? "−" : ""}${Math.abs(node.correlation).toFixed(2)}`
    : "";
  const pool = node.pool === null ? "" : width < 100 ? `m${node.pool}` : `module ${node.pool}`;
  const title = [
    node.label,
    node.surplus ? "surplus" : "",
    node.gate ? `computes ${node.gate}` : "no gate of its own",
    correlation,
    pool,
  ]
    .filter(Boolean)
    .join(", ");
  return svg(
    "g",
    {
      class: `node node-module${node.surplus ? " node-surplus" : ""}${colour ? " node-pooled" : ""}`,
      style: colour ? inBothThemes(colour) : null,
    },
    svg("title", {}, title),
    box,
    text(node.gate ?? (node.surplus ? "surplus" : node.label), -3, 12, "node-gate"),
    text(
      [correlation || (node.gate || node.surplus ? "" : "no gate"), pool].filter(Boolean).join(" · "),
      13,
      10.5,
      "node-detail",
    ),
  );
}

// Whether there are too many modules on a level for a third of the page.
export function isWide(graph: RoutingGraph): boolean {
  return arrange(graph).width > 470;
}

export function routingDrawing(graph: RoutingGraph, name: string): HTMLElement {
  const { placed, width, height } = arrange(graph);
  const tally = (state: string): number => graph.edges.filter((edge) => edge.state === state).length;
  const words = `${name}: ${tally("right")} right edges, ${tally("wrong")} wrong, ${tally("missing")} missing.`;
  return el(
    "div",
    { class: "routing" },
    svg(
      "svg",
      {
        viewBox: `0 0 ${width} ${height}`,
        style: `min-width:${Math.round(width * 0.72)}px;max-width:${Math.round(width * 1.2)}px`,
        role: "img",
        "aria-label": words,
      },
      drawEdges(graph, placed),
      [...placed.values()].map(drawNode),
    ),
  );
}

export function routingKey(): HTMLElement {
  const sample = (state: string): SVGElement =>
    svg(
      "svg",
      { width: 34, height: 12, viewBox: "0 0 34 12", "aria-hidden": "true" },
      svg("path", { class: `edge edge-${state}`, d: "M2,6H32" }),
    );
  return el(
    "p",
    { class: "routing-key" },
    el("span", {}, sample("right"), "right edge"),
    el("span", {}, sample("wrong"), "wrong edge"),
    el("span", {}, sample("missing"), "missing edge"),
    el(
      "span",
      {},
      "Boxes are modules: the gate they match best, r the correlation with it (negative: its complement), colour and number which module of the pool it is.",
    ),
  );
}
