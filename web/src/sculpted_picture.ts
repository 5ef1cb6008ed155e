// A sculpted network as the paper draws it, layers from bottom to top and units in the areas of their modules. Before
// the last step, the units that are to go stand between those that stay.
import { clear, el, svg } from "./dom";
import { plural } from "./format";
import { kAreas, kOtherArea } from "./palette";
import type { DrawnLayer, DrawnModule, SculptedDrawing } from "./report";
import type { DrawnEdge } from "./sculpted_network";

const kLabelWidth = 46; // of a layer's name, on the left
const kMargin = 8;
const kDot = 2.4; // the radius of a unit that goes
const kDotStep = 8.5; // at least, from one to the next
const kFew = 60; // edges that are drawn at full width; more are thinner, and
const kMany = 900; // so many are as thin as they get
const kNamed = 400; // edges that say what they are at the pointer

interface Spot {
  x: number;
  bottom: number; // where edges from below end
  top: number;
}

export interface SculptedPicture {
  element: HTMLElement;
  show: (network: number) => void;
}

// How wide a layer has to be for all of its units.
function neededWidth(layer: DrawnLayer): number {
  const stay = layer.places.filter(Boolean).length;
  const go = layer.places.length - stay;
  return go ? (go + 1) * kDotStep + stay * (layer.unit_width + 2 * kDotStep) : 0;
}

// Evenly over the width, but not where a unit stays.
function dotPlaces(layer: DrawnLayer, left: number, width: number): Map<number, number> {
  const gone = layer.places.flatMap((place, unit) => (place ? [] : [unit]));
  const taken = layer.places.flatMap((place) => (place ? [place[0]] : []));
  const room = layer.unit_width / 2 + kDotStep * 0.8;
  const isFree = (x: number): boolean => taken.every((other) => Math.abs(other - x) > room);
  let free: number[] = [];
  for (let slots = gone.length; gone.length && free.length < gone.length && slots < 20 * gone.length; ++slots) {
    free = Array.from({ length: slots }, (_, at) => left + ((at + 0.5) * width) / slots).filter(isFree);
  }
  return new Map(gone.map((unit, at) => [unit, free[Math.floor((at * free.length) / gone.length)] ?? left]));
}

function drawAreas(modules: DrawnModule[]): { frames: SVGElement[]; names: SVGElement[] } {
  const coloured = modules.map((module) => ({
    module,
    colours: (module.truth === null ? null : kAreas[module.truth % kAreas.length]) ?? kOtherArea,
  }));
  return {
    frames: coloured.map(({ module, colours }) =>
      svg("rect", {
        x: module.left,
        y: module.top,
        width: module.width,
        height: module.height,
        rx: 9,
        fill: colours.fill,
        stroke: colours.line,
        "stroke-opacity": 0.45,
      }),
    ),
    names: coloured.map(({ module, colours }) =>
      svg(
        "text",
        {
          class: "area-name",
          x: module.left + 6,
          y: module.top + 12.5,
          style: `fill:${colours.line};stroke:${colours.fill}`,
        },
        module.name,
      ),
    ),
  };
}

// Many edges as few paths: one for each sign and width.
function drawEdges(
  edges: DrawnEdge[],
  pathOf: (edge: DrawnEdge) => string,
  nameOf: (edge: DrawnEdge, at: number) => string,
): SVGElement[] {
  const crowd = Math.min(Math.max((edges.length - kFew) / (kMany - kFew), 0), 1);
  const [thin, thick, opacity] = [0.8 - 0.55 * crowd, 2.8 - 2.2 * crowd, 0.85 - 0.55 * crowd];
  const line = (edge: DrawnEdge, strength: number, d: string, name: string | null): SVGElement =>
    svg(
      "path",
      {
        class: `weight weight-${edge.negative ? "negative" : "positive"}`,
        d,
        "stroke-width": (thin + thick * strength).toFixed(2),
        "stroke-opacity": opacity.toFixed(2),
      },
      name && svg("title", {}, name),
    );
  if (edges.length <= kNamed) {
    return edges.map((edge, at) => line(edge, edge.strength, pathOf(edge), nameOf(edge, at)));
  }
  const widths = 6;
  const groups = new Map<string, { edge: DrawnEdge; strength: number; paths: string[] }>();
  for (const edge of edges) {
    const width = Math.round(edge.strength * widths);
    const group = groups.get(`${edge.negative} ${width}`);
    if (group) {
      group.paths.push(pathOf(edge));
    } else {
      groups.set(`${edge.negative} ${width}`, { edge, strength: width / widths, paths: [pathOf(edge)] });
    }
  }
  return [...groups.values()].map(({ edge, strength, paths }) => line(edge, strength, paths.join(""), null));
}

// Where everything is, whichever step is shown.
interface Plan {
  left: number; // of the widest layer
  width: number;
  dots: Map<number, number>[]; // [layer]: units that go, and where
  spots: Spot[][]; // [layer][unit]
}

function makePlan(drawing: SculptedDrawing): Plan {
  const half = drawing.unit_height / 2;
  const width = Math.max(drawing.width, ...drawing.layers.map(neededWidth));
  const left = (drawing.width - width) / 2;
  const dots = drawing.layers.map((layer) => dotPlaces(layer, left, width));
  const spots = drawing.layers.map((layer, at) =>
    layer.places.map((place, unit) =>
      place
        ? { x: place[0], bottom: place[1] + half, top: place[1] - half }
        : { x: dots[at]?.get(unit) ?? left, bottom: layer.y + kDot, top: layer.y - kDot },
    ),
  );
  return { left, width, dots, spots };
}

function drawUnits(drawing: SculptedDrawing): SVGElement[] {
  const last = drawing.layers.length - 1;
  const height = drawing.unit_height;
  return drawing.layers.flatMap((layer, at) =>
    layer.places.flatMap((place, unit) => {
      if (!place) {
        return [];
      }
      const [x, y] = place;
      const name = layer.names[unit] ?? "";
      const width = layer.unit_width;
      return [
        svg(
          "g",
          { class: `unit${at === last ? " unit-output" : ""}` },
          svg("title", {}, name),
          svg("rect", { x: x - width / 2, y: y - height / 2, width, height, rx: height / 2 }),
          at === 0 || at === last ? svg("text", { x, y: y + 3.4 }, name) : null,
        ),
      ];
    }),
  );
}

export function sculptedPicture(drawing: SculptedDrawing, networks: DrawnEdge[][], name: string): SculptedPicture {
  const { layers } = drawing;
  const plan = makePlan(drawing);
  const labelLeft = plan.left - kLabelWidth;
  const unitName = (layer: number, unit: number): string => layers[layer]?.names[unit] ?? "";
  const pathOf = ({ layer, from, to }: DrawnEdge): string => {
    const [begin, end] = [plan.spots[layer]?.[from], plan.spots[layer + 1]?.[to]];
    return begin && end
      ? `M${begin.x.toFixed(1)} ${begin.top.toFixed(1)}L${end.x.toFixed(1)} ${end.bottom.toFixed(1)}`
      : "";
  };
  const dots = layers.map((layer, at) => {
    const dot = (unit: number, x: number): SVGElement =>
      svg(
        "circle",
        { class: "unit-dot", cx: x.toFixed(1), cy: layer.y, r: kDot },
        svg("title", {}, unitName(at, unit)),
      );
    return new Map([...(plan.dots[at] ?? [])].map(([unit, x]) => [unit, dot(unit, x)]));
  });
  const labels = layers.map((layer) => svg("text", { class: "layer-name", x: labelLeft, y: layer.y }));
  const lines = svg("g");
  const areas = drawAreas(drawing.modules);
  const width = plan.width + kLabelWidth + kMargin;
  const picture = svg(
    "svg",
    {
      viewBox: [labelLeft, -2, width, drawing.height + 4].map((value) => value.toFixed(1)).join(" "),
      style: `min-width:${Math.round(width * 0.55)}px;max-width:${Math.round(width * 1.15)}px`,
      role: "img",
    },
    labels,
    svg("g", { class: "areas" }, areas.frames),
    lines,
    svg("g", { class: "areas" }, areas.names),
    dots.map((of) => [...of.values()]),
    drawUnits(drawing),
  );

  function showLines(edges: DrawnEdge[], isLast: boolean): void {
    const crossing = new Set(isLast ? drawing.crossing : []);
    const nameOf = (edge: DrawnEdge, at: number): string => {
      const weight = isLast ? `: ${drawing.weights[at] ?? ""}` : "";
      const crosses = crossing.has(at) ? ", passes its module by" : "";
      return `${unitName(edge.layer, edge.from)} to ${unitName(edge.layer + 1, edge.to)}${weight}${crosses}`;
    };
    const paths = drawEdges(edges, pathOf, nameOf);
    crossing.forEach((at) => paths[at]?.classList.add("weight-crossing"));
    clear(lines, paths);
  }

  function showUnits(edges: DrawnEdge[]): void {
    const used = layers.map(() => new Set<number>());
    for (const edge of edges) {
      used[edge.layer]?.add(edge.from);
      used[edge.layer + 1]?.add(edge.to);
    }
    layers.forEach((layer, at) => {
      dots[at]?.forEach((dot, unit) => dot.classList.toggle("unit-gone", !used[at]?.has(unit)));
      const isHidden = at > 0 && at < layers.length - 1;
      const count = isHidden ? svg("tspan", { x: labelLeft, dy: 12 }, used[at]?.size) : null;
      labels[at]?.replaceChildren(layer.name, ...(count ? [count] : []));
    });
  }

  const modules = drawing.modules.map((module) => module.name).join(", ");
  function show(at: number): void {
    const edges = networks[at] ?? [];
    const isLast = at >= networks.length - 1;
    showLines(edges, isLast);
    showUnits(edges);
    picture.classList.toggle("is-last", isLast);
    const found = `${plural(drawing.modules.length, "module")}: ${modules}`;
    picture.setAttribute(
      "aria-label",
      `${name}: ${plural(edges.length, "edge")}${isLast ? `; ${found}` : ", more than are left in the end"}.`,
    );
  }

  show(networks.length - 1);
  return { element: el("div", { class: "sculpted-picture drawn" }, picture), show };
}

export function sculptedKey(): HTMLElement[] {
  const sample = (kind: string): HTMLElement =>
    el(
      "span",
      { class: "drawn" },
      svg(
        "svg",
        { width: 30, height: 12, viewBox: "0 0 30 12", "aria-hidden": "true" },
        svg("path", { class: `weight ${kind}`, d: "M2,6H28", "stroke-width": 2.4 }),
      ),
    );
  return [
    el("span", {}, sample("weight-positive"), "positive weight"),
    el("span", {}, sample("weight-negative"), "negative weight"),
    el("span", {}, sample("weight-positive weight-crossing"), "edge that passes its module by"),
    el("span", {}, "The wider, the larger the weight in its layer."),
    el("span", {}, "Areas are the modules found, in the colours of the true ones."),
    el("span", {}, "Grey ones join several (+) or lie between; * has only a part."),
  ];
}
