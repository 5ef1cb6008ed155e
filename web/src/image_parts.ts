// Everything that only networks on images have.
import { combinationPart } from "./combinations";
import { el } from "./dom";
import { imageDetails } from "./image_details";
import { imageExamples } from "./image_examples";
import { imageModules } from "./image_modules";
import type { Network } from "./report";

export function imageParts(network: Network): HTMLElement | null {
  const details = imageDetails(network);
  return details
    ? el(
        "div",
        { class: "image-parts" },
        imageExamples(details),
        imageModules(details, network.graph !== null),
        combinationPart(details),
      )
    : null;
}
