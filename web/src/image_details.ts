// What came with a network on images, with every list in place and nothing in it that cannot be drawn.
import { list, numberOrNull, numbers, records, text, whole } from "./given";
import type { Combination, Example, ImageDetails, ImageModule, Network, Part } from "./report";
import { isNumber } from "./report";

const kMostPixels = 65_536;

export const kParts: { part: Part; name: string; about: string }[] = [
  { part: "unseen", name: "unseen", about: "never trained on" },
  { part: "validation", name: "validation", about: "not trained on, the best epoch is chosen on them" },
  { part: "train", name: "seen", about: "trained on, here with other images" },
];

export function partName(part: Part): string {
  return kParts.find((one) => one.part === part)?.name ?? part;
}

function digitsOf(value: unknown): number[] {
  return list(value).filter((item): item is number => isNumber(item) && item >= 0 && Number.isInteger(item));
}

function hasPart<Item extends { part?: unknown }>(item: Item): item is Item & { part: Part } {
  return kParts.some((one) => one.part === item.part);
}

export function imageDetails(network: Network): ImageDetails | null {
  const given: Partial<ImageDetails> | null | undefined = network.images;
  if (!given || typeof given !== "object") {
    return null;
  }
  const modules = records<ImageModule>(given.modules).map((module) => ({
    name: text(module.name) || "image module",
    reads: text(module.reads),
    means: list(module.means).map(numbers),
    specialisation: numberOrNull(module.specialisation),
  }));
  const all = records<Combination>(given.combinations)
    .filter(hasPart)
    .map((one) => ({
      digits: digitsOf(one.digits),
      part: one.part,
      accuracy: numberOrNull(one.accuracy),
    }));
  const images = whole(given.images) || (all[0]?.digits.length ?? 0);
  const combinations = all.filter((one) => one.digits.length === images);
  const examples = records<Example>(given.examples)
    .filter(hasPart)
    .map((one) => ({
      digits: digitsOf(one.digits),
      part: one.part,
      pixels: list(one.pixels).map(text),
      truth: numbers(one.truth),
      says: numbers(one.says),
    }));
  const used = combinations.reduce((most, one) => Math.max(most, ...one.digits), -1) + 1;
  return {
    digits: Math.min(whole(given.digits) || used, 16),
    images,
    outputs: list(given.outputs).map(text),
    rows: whole(given.rows),
    columns: whole(given.columns),
    modules,
    combinations,
    examples,
  };
}

// The bytes of one image, or nothing if they are not those of an image of that size.
export function decodePixels(encoded: string, rows: number, columns: number): Uint8Array | null {
  if (!rows || !columns || rows * columns > kMostPixels) {
    return null;
  }
  try {
    const bytes = Uint8Array.from(atob(encoded), (letter) => letter.charCodeAt(0));
    return bytes.length === rows * columns ? bytes : null;
  } catch {
    return null; // not base64
  }
}
