// The wiring a network learned, drawn over the true one.
import { el, svg } from "./dom";
import { kPool } from "./palette";
import type { RoutingGraph, RoutingNode } from "./report";
import { isNumber } from "./report";
import type { Placed } from "./routing_layout";
import { arrange, groupsOf, slotOf } from "./routing_layout";
import { inBothThemes } from "./swatch";

const kSlotHead = 18;
const kSlotPadding = 6;

// Frames around the values of one image slot each, and the slot's name with that of the module it uses.
function drawSlots(graph: RoutingGraph, placed: Map<string, Placed>): { frames: SVGElement[]; names: SVGElement[] } {
  const frames: SVGElement[] = [];
  const names: SVGElement[] = [];
  for (const group of groupsOf(graph.nodes.filter((node) => node.kind === "value"))) {
    const boxes = group.flatMap((node) => placed.get(node.id) ?? []);
    const [first, last] = [boxes[0], boxes[boxes.length - 1]];
    const name = first ? slotOf(first.node) : "";
    if (!first || !last || !name) {
      continue;
    }
    const left = first.x - first.width / 2 - kSlotPadding;
    const top = first.y - first.height / 2;
    const pool = isNumber(first.node.pool) ? ` · m${first.node.pool + 1}` : "";
    frames.push(
      svg("rect", {
        class: "slot",
        x: left,
        y: top - kSlotHead,
        width: last.x + last.width / 2 + kSlotPadding - left,
        height: first.height + kSlotHead + kSlotPadding,
        rx: 9,
      }),
    );
    names.push(svg("text", { class: "slot-name", x: left + 8, y: top - 5, "font-size": 10.5 }, `${name}${pool}`));
  }
  return { frames, names };
}

const kStateNames = { right: "right", wrong: "wrong", missing: "missing", free: "free" };

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
  const order = { missing: 0, free: 1, right: 2, wrong: 3 };
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

// Image modules are another pool than the modules above them, and take the hues from the other end.
function poolColour({ pool, kind }: RoutingNode): { light: string; dark: string } | null {
  if (!isNumber(pool)) {
    return null;
  }
  const at = ((pool % kPool.length) + kPool.length) % kPool.length;
  return kPool[kind === "value" ? kPool.length - 1 - at : at] ?? null;
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
  const colour = poolColour(node);
  const box = svg("rect", {
    x: x - width / 2,
    y: y - height / 2,
    width,
    height,
    rx: node.kind === "module" || node.kind === "value" ? 7 : node.kind === "image" ? 3 : height / 2,
  });
  if (node.kind !== "module" && node.kind !== "value") {
    return svg("g", { class: `node node-${node.kind}` }, box, text(node.label, 4, 12, "node-name"));
  }
  const correlation = isNumber(node.correlation)
    ? `r ${node.correlation <= -0.005 ? "−" : ""}${Math.abs(node.correlation).toFixed(2)}`
    : "";
  const value = node.kind === "value";
  const poolName = value ? "image module " : width < 100 ? "m" : "module ";
  const pool = isNumber(node.pool) ? `${poolName}${node.pool + 1}` : "";
  const nothing = value ? "no bit" : "no gate";
  const title = [
    node.label,
    node.surplus ? "surplus" : "",
    node.gate ? `${value ? "says" : "computes"} ${node.gate}` : `${nothing} of its own`,
    correlation,
    pool,
  ]
    .filter(Boolean)
    .join(", ");
  return svg(
    "g",
    {
      class: `node node-${node.kind}${node.surplus ? " node-surplus" : ""}${colour ? " node-pooled" : ""}`,
      style: colour ? inBothThemes(colour) : null,
    },
    svg("title", {}, title),
    box,
    value
      ? valueWords(node, correlation).map((words, line) =>
          text(words, -9 + 12.5 * line, line ? 10 : 11, line ? "node-detail" : "node-gate"),
        )
      : [
          text(node.gate ?? (node.surplus ? "surplus" : node.label), -3, 12, "node-gate"),
          text(
            [correlation || (node.gate || node.surplus ? "" : nothing), pool].filter(Boolean).join(" · "),
            13,
            10.5,
            "node-detail",
          ),
        ],
  );
}

// "bit 2 of image 1" takes two lines, and what is left of the slot's name is no news.
function valueWords(node: RoutingNode, correlation: string): string[] {
  const [bit = "", image = ""] = node.gate ? node.gate.split(" of ") : [node.surplus ? "surplus" : "no bit"];
  return [bit, image, correlation].filter(Boolean);
}

// Whether there are too many modules on a level for a third of the page.
export function isWide(graph: RoutingGraph): boolean {
  return arrange(graph).width > 470;
}

export function routingDrawing(graph: RoutingGraph, name: string): HTMLElement {
  const { placed, width, height } = arrange(graph);
  const slots = drawSlots(graph, placed);
  const tally = (state: string): number => graph.edges.filter((edge) => edge.state === state).length;
  const words = `${name}: ${tally("right")} right edges, ${tally("wrong")} wrong, ${tally("missing")} missing${tally("free") ? `, ${tally("free")} free` : ""}.`;
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
      slots.frames,
      drawEdges(graph, placed),
      slots.names,
      [...placed.values()].map(drawNode),
    ),
  );
}

export function routingKey(onImages: boolean, hasFree: boolean): HTMLElement[] {
  const sample = (state: string): SVGElement =>
    svg(
      "svg",
      { width: 34, height: 12, viewBox: "0 0 34 12", "aria-hidden": "true" },
      svg("path", { class: `edge edge-${state}`, d: "M2,6H32" }),
    );
  return [
    el("span", {}, sample("right"), "right edge"),
    el("span", {}, sample("wrong"), "wrong edge"),
    el("span", {}, sample("missing"), "missing edge"),
    ...(hasFree ? [el("span", {}, sample("free"), "free: more than the gate needs")] : []),
    el(
      "span",
      {},
      "Boxes are modules: the gate they match best, r the correlation with it (negative: its complement), colour and number which module of the pool it is.",
    ),
    ...(onImages
      ? [
          el(
            "span",
            {},
            "Framed boxes are the values of an image slot: the bit of a digit they match best; m is which image module of the pool the slot uses.",
          ),
        ]
      : []),
  ];
}
