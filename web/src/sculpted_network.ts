// The edges of a sculpted network after each accepted step of its pruning.
import type { SculptedDrawing } from "./report";

export interface DrawnEdge {
  layer: number; // of the unit that it comes from
  from: number;
  to: number;
  strength: number; // of its weight, from 0 to 1, against the largest of its layer
  negative: boolean;
}

// As src/report/sculpted_drawing.cc writes them; any other letter is an edge that is gone.
const kStrengths = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const kSteps = 32;

// All edges that there can be, in the order of the letters.
function allEdges(drawing: SculptedDrawing): DrawnEdge[] {
  const edges: DrawnEdge[] = [];
  drawing.layers.slice(1).forEach((above, layer) => {
    const below = drawing.layers[layer]?.places.length ?? 0;
    for (let to = 0; to < above.places.length; ++to) {
      for (let from = 0; from < below; ++from) {
        edges.push({ layer, from, to, strength: 0, negative: false });
      }
    }
  });
  return edges;
}

export function networksOf(drawing: SculptedDrawing): DrawnEdge[][] {
  let edges = allEdges(drawing);
  return drawing.networks.map((letters) => {
    edges = edges.flatMap((edge, at) => {
      const letter = kStrengths.indexOf(letters[at] ?? ".");
      return letter < 0
        ? []
        : [{ ...edge, strength: (letter % kSteps) / (kSteps - 1), negative: letter >= kSteps }];
    });
    return edges;
  });
}
