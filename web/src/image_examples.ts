// Single samples: the images, what is true of them, and what the network says.
import { makeWalkable } from "./cell_walk";
import type { Cells } from "./cell_walk";
import { el } from "./dom";
import { plural } from "./format";
import { decodePixels, partName } from "./image_details";
import type { Example, ImageDetails } from "./report";
import { isNumber } from "./report";
import { fact } from "./tooltip";
import { verdictSign } from "./verdict";

const kShownFirst = 6;
const kShownAtOnce = 8; // a button for fewer than three is not worth it
const kInk = [0x1d, 0x20, 0x25] as const; // the page's; style/images.css inverts it in the dark

function inkDrawing(bytes: Uint8Array, rows: number, columns: number): HTMLCanvasElement {
  const canvas = el("canvas", { width: columns, height: rows });
  const picture = new ImageData(columns, rows);
  bytes.forEach((darkness, at) => picture.data.set([...kInk, darkness], 4 * at));
  canvas.getContext("2d")?.putImageData(picture, 0, 0);
  return canvas;
}

function picture(example: Example, at: number, details: ImageDetails): HTMLElement {
  const digit = example.digits[at];
  const bytes = decodePixels(example.pixels[at] ?? "", details.rows, details.columns);
  return el(
    "figure",
    { class: bytes ? "digit" : "digit digit-missing" },
    el(
      "div",
      { class: "digit-paper", role: "img", "aria-label": `image ${at + 1}${bytes ? "" : ", not at hand"}` },
      bytes ? inkDrawing(bytes, details.rows, details.columns) : (digit ?? "?"),
    ),
  );
}

interface Answer {
  name: string;
  truth: number | null;
  says: number | null;
}

function isRight({ truth, says }: Answer): boolean | null {
  return isNumber(truth) && isNumber(says) ? says > 0.5 === truth > 0.5 : null;
}

function answersOf(example: Example, details: ImageDetails): Answer[] {
  const count = Math.max(example.truth.length, example.says.length);
  return Array.from({ length: count }, (_, at) => ({
    name: details.outputs[at] || `y${at}`,
    truth: example.truth[at] ?? null,
    says: example.says[at] ?? null,
  }));
}

const bit = (value: number | null): string => (isNumber(value) ? (value > 0.5 ? "1" : "0") : "–");

function chance(says: number | null): string {
  if (!isNumber(says)) {
    return "–";
  }
  return says >= 0.9995 ? "> 0.999" : says < 0.0005 ? "< 0.001" : says.toFixed(3);
}

function answerCell(answer: Answer, cells: Cells): HTMLElement {
  const right = isRight(answer);
  const verdict = right === null ? "unknown" : right ? "right" : "wrong";
  const cell = el(
    "td",
    {
      class: `answer answer-${verdict}`,
      "aria-label": `${answer.name}: ${bit(answer.says)}, ${verdict}, probability of 1 is ${chance(answer.says)}`,
    },
    bit(answer.says),
    right === null ? null : verdictSign(right ? "holds" : "fails"),
  );
  cells.set(cell, () => [
    el("div", { class: "point-place" }, `${answer.name}: ${verdict}`),
    fact("truth", bit(answer.truth)),
    fact("network says", bit(answer.says)),
    fact("probability of 1", chance(answer.says)),
  ]);
  return cell;
}

function answers(example: Example, details: ImageDetails, cells: Cells): HTMLElement {
  const list = answersOf(example, details);
  return el(
    "table",
    { class: "answers" },
    el(
      "thead",
      {},
      el(
        "tr",
        {},
        el("td"),
        list.map((answer) => el("th", { scope: "col", title: answer.name }, answer.name)),
      ),
    ),
    el(
      "tbody",
      {},
      el(
        "tr",
        {},
        el("th", { scope: "row" }, "truth"),
        list.map((answer) => el("td", {}, bit(answer.truth))),
      ),
      el(
        "tr",
        {},
        el("th", { scope: "row" }, "network"),
        list.map((answer) => answerCell(answer, cells)),
      ),
    ),
  );
}

function exampleCard(example: Example, details: ImageDetails, cells: Cells): HTMLElement {
  return el(
    "li",
    { class: "example" },
    el(
      "div",
      { class: "digits" },
      el(
        "div",
        { class: "digit-row" },
        Array.from({ length: Math.max(example.digits.length, example.pixels.length) }, (_, at) =>
          picture(example, at, details),
        ),
      ),
      el(
        "p",
        { class: `example-what part-${example.part}` },
        el("strong", {}, example.digits.join(" ")),
        " ",
        partName(example.part),
      ),
    ),
    answers(example, details, cells),
  );
}

export function imageExamples(details: ImageDetails): HTMLElement {
  const part = el("section", { class: "image-part image-examples" }, el("h4", {}, "Samples"));
  if (!details.examples.length) {
    part.append(el("p", { class: "note" }, "There are no samples to show."));
    return part;
  }
  const cells: Cells = new Map();
  const cards = details.examples.map((example) => exampleCard(example, details, cells));
  const wrong = details.examples.filter((example) =>
    answersOf(example, details).some((answer) => isRight(answer) === false),
  ).length;
  const list = el(
    "ul",
    {
      class: `examples${details.images > 2 || details.outputs.length > 2 ? " examples-long" : ""}`,
      "aria-label": `${plural(cards.length, "sample")}, ${wrong} with a wrong output`,
    },
    cards,
  );
  makeWalkable(list, cells);
  part.append(list);
  const rest = cards.length > kShownAtOnce ? cards.slice(kShownFirst) : [];
  if (rest.length) {
    rest.forEach((card) => (card.hidden = true));
    const more = el(
      "button",
      {
        type: "button",
        class: "more",
        click: () => {
          rest.forEach((card) => (card.hidden = false));
          more.remove();
          rest[0]?.querySelector<HTMLElement>(".answer")?.focus();
        },
      },
      `Show all ${plural(cards.length, "sample")}`,
    );
    part.append(more);
  }
  if (list.querySelector(".digit-missing")) {
    part.append(
      el("p", { class: "note" }, "Where a picture is missing, its image was not at hand when this page was written."),
    );
  }
  return part;
}
