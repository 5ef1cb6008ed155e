// Networks on images of digits, as the report shows them.
import assert from "node:assert/strict";
import { drawn, makeOnPage, withFigures } from "./browser.mjs";
import { finished, hostileName } from "./sample.mjs";
import { brokenDigits, digits } from "./sample_digits.mjs";

const onPage = makeOnPage();
const study = withFigures(digits());
const phone = { width: 390, height: 844, isMobile: true, hasTouch: true };
const kParts = ["unseen", "validation", "train"];

// Shows a cell of the gallery, and gives its networks in the order of their cards.
async function show(page, report, task, series) {
  const networks = report.gallery.filter((one) => one.task === task && one.series === series);
  const selects = page.locator("#networks select");
  for (const [at, value] of [task, series].entries()) {
    if (await selects.nth(at).isEnabled()) {
      await selects.nth(at).selectOption(value);
    }
  }
  assert.equal(await page.locator(".network").count(), networks.length);
  return networks;
}

const card = (page, at) => page.locator(".network").nth(at);

async function tooltip(page) {
  await page.waitForSelector(".tooltip:not([hidden])");
  return (await page.locator(".tooltip").innerText()).replace(/[\u202f\u00a0]/g, " ").replace(/\s*\n\s*/g, " ");
}

// Scrolls to the middle first: the bar covers the top of the window.
async function hover(page, cell) {
  await cell.evaluate((element) => element.scrollIntoView({ block: "center", behavior: "instant" }));
  await cell.hover();
  return tooltip(page);
}

const isRight = (example, output) => example.says[output] > 0.5 === example.truth[output] > 0.5;

onPage("says unseen and seen accuracy in words and curves", study, {}, async (page, report) => {
  const networks = await show(page, report, "mnist-xor-and", "modular-shared");
  for (const [at, network] of networks.entries()) {
    const words = (await card(page, at).locator("header").innerText()).replace(/\s+/g, " ");
    assert.ok(words.includes(`${network.accuracy.test.toFixed(1)} % unseen`), words);
    assert.ok(words.includes(`${network.accuracy.seen.toFixed(1)} % seen`), words);
    assert.ok(!/\btest\b/.test(words));
    await card(page, at).locator(".curve svg").waitFor();
    assert.equal(await card(page, at).locator(".curve .mark-line path").count(), 4);
  }
  const words = await hover(page, page.locator(".curve").first());
  assert.match(words, /Epoch.*unseen.*seen.*validation.*train/);
  assert.match(await page.locator(".curve-key").innerText(), /unseen\s+seen\s+validation\s+train/);
  assert.match(await page.locator("#reading").innerText(), /Seen and unseen/);
});

onPage("shows samples with their images and answers", study, {}, async (page, report) => {
  const networks = await show(page, report, "mnist-xor-and", "modular");
  for (const [at, network] of networks.entries()) {
    const { examples } = network.images;
    const list = card(page, at).locator(".examples");
    assert.equal(await list.locator(".example:visible").count(), 6);
    await card(page, at)
      .getByRole("button", { name: `Show all ${examples.length} samples` })
      .click();
    assert.equal(await list.locator(".example:visible").count(), examples.length);
    assert.equal(await list.locator("canvas").count(), 2 * examples.length);
    const answers = examples.flatMap((example) => example.truth.map((_, output) => isRight(example, output)));
    assert.equal(await list.locator(".answer-right .verdict-holds").count(), answers.filter((right) => right).length);
    assert.equal(await list.locator(".answer-wrong .verdict-fails").count(), answers.filter((right) => !right).length);
    for (const part of kParts) {
      const name = part === "train" ? "seen" : part;
      assert.equal(
        await list.locator(`.example-what.part-${part} >> text=/ ${name}$/`).count(),
        examples.filter((example) => example.part === part).length,
      );
    }
  }
  // What is drawn is what is in the bytes.
  const drawn = await card(page, 0)
    .locator("canvas")
    .nth(3)
    .evaluate((canvas) => [
      ...canvas
        .getContext("2d")
        .getImageData(0, 0, 28, 28)
        .data.filter((_, at) => at % 4 === 3),
    ]);
  assert.deepEqual(drawn, [...Buffer.from(networks[0].images.examples[1].pixels[1], "base64")]);

  const [first] = networks.at(-1).images.examples;
  const cell = card(page, 2).locator(".answer").nth(1);
  const verdict = isRight(first, 1) ? "right" : "wrong";
  const words = await hover(page, cell);
  assert.ok(words.includes(`u1: ${verdict} truth ${first.truth[1]}`), words);
  assert.ok(words.includes(`probability of 1 ${first.says[1].toFixed(3)}`), words);
  const label = await cell.getAttribute("aria-label");
  assert.ok(label.includes(verdict) && label.includes(first.says[1].toFixed(3)), label);
});

onPage("draws what image modules say to each digit", study, {}, async (page, report) => {
  const networks = await show(page, report, "mnist-xor-and", "modular");
  const [module] = networks[1].images.modules;
  const part = card(page, 1).locator(".image-module");
  assert.equal(await part.count(), 2);
  assert.equal(await part.first().locator("tbody td.filled").count(), 3 * 8);
  const head = await part.first().innerText();
  assert.ok(head.includes("image module 1") && head.includes("reads image 1"), head);
  assert.ok(head.includes(`specialisation ${module.specialisation.toFixed(2)}`), head);
  const row = part.first().locator("tbody tr").nth(1);
  const colour = (digit) =>
    row
      .locator("td")
      .nth(digit)
      .evaluate((cell) => getComputedStyle(cell).backgroundColor);
  const means = module.means[1];
  const [low, high] = [means.indexOf(Math.min(...means)), means.indexOf(Math.max(...means))];
  assert.equal(await colour(low), "rgb(179, 74, 0)");
  assert.equal(await colour(high), "rgb(27, 92, 148)");
  const words = await hover(page, row.locator("td").nth(5));
  assert.match(words, /image module 1, output 2 digit 5 \(101\)/);
  assert.ok(words.includes(String(Number(means[5].toFixed(3)))), words);
  await show(page, report, "mnist-xor-and", "mlp");
  assert.match(await card(page, 0).locator(".image-modules").innerText(), /without modules/);
});

onPage("draws pairs of digits as a grid", study, {}, async (page, report) => {
  const networks = await show(page, report, "mnist-xor-and", "modular-shared");
  const { combinations } = networks[2].images;
  const part = card(page, 2).locator(".combinations");
  assert.equal(await part.locator("tbody td").count(), 64);
  const frame = (selector) =>
    part
      .locator(selector)
      .first()
      .evaluate((cell) => getComputedStyle(cell).outlineStyle);
  const frames = [];
  for (const name of kParts) {
    const members = combinations.filter((one) => one.part === name);
    assert.equal(await part.locator(`tbody td.part-${name}`).count(), members.length);
    frames.push(await frame(`tbody td.part-${name}`));
    assert.equal(await frame(`.combination-sample.part-${name}`), frames.at(-1), "the legend shows the same frame");
  }
  assert.equal(new Set(frames).size, 3, "parts differ in more than colour");
  assert.match(await part.locator(".combination-key").innerText(), /unseen 16[\s\S]*validation 10[\s\S]*seen 38/);

  const at = combinations.findIndex((one) => one.part === "unseen");
  const { digits: pair, accuracy } = combinations[at];
  const cell = part.locator("tbody tr").nth(pair[0]).locator("td").nth(pair[1]);
  assert.equal(await cell.innerText(), String(Math.floor(accuracy)));
  const words = await hover(page, cell);
  assert.equal(words, `digits ${pair.join(" ")} part unseen accuracy ${accuracy.toFixed(2)} %`);
  const label = (await cell.getAttribute("aria-label")).replace(/\s/g, " ");
  assert.equal(label, `${pair.join(" ")}: unseen, ${accuracy.toFixed(2)} %`);
});

onPage("goes from cell to cell with the keyboard", study, {}, async (page, report) => {
  await show(page, report, "mnist-xor-and", "modular-shared");
  const grid = card(page, 0).locator(".combination-grids");
  assert.equal(await grid.locator("[tabindex='0']").count(), 1);
  await grid.locator("[tabindex='0']").focus();
  for (const key of ["ArrowRight", "ArrowRight", "ArrowDown", "ArrowLeft", "ArrowUp", "ArrowUp", "ArrowDown"]) {
    await page.keyboard.press(key);
  }
  assert.match(await tooltip(page), /^digits 1 1 /);
  assert.equal(await grid.locator("[tabindex='0']").count(), 1);
  await page.keyboard.press("Escape");
  assert.equal(await page.locator(".tooltip").isVisible(), false);
  await page.keyboard.press("Shift+Tab");
  assert.match(await tooltip(page), /shared image module, output 1/);
  await page.keyboard.press("Shift+Tab");
  await page.keyboard.press("Enter"); // the button that shows all samples
  assert.match(await tooltip(page), /probability of 1/);
  assert.equal(await card(page, 0).locator(".example:visible").count(), 10);
});

onPage("draws triples as a grid of grids, and counts all by accuracy", study, {}, async (page, report) => {
  for (const [task, tables] of [
    ["mnist-three", 8],
    ["mnist-four", 0],
  ]) {
    const networks = await show(page, report, task, "modular-shared");
    const { combinations } = networks[1].images;
    const part = card(page, 1).locator(".combinations");
    assert.equal(await part.locator(".combination-cells").count(), tables);
    assert.equal(await part.locator(".combination-cells tbody td").count(), 64 * tables);
    for (const [row, name] of kParts.entries()) {
      const labels = await part
        .locator(".combination-bars tbody tr")
        .nth(row)
        .locator("td")
        .evaluateAll((cells) => cells.map((cell) => cell.getAttribute("aria-label")));
      const sum = labels.reduce((total, label) => total + Number(label.split(": ")[1].replace(",", "")), 0);
      assert.equal(sum, combinations.filter((one) => one.part === name).length);
    }
    const worst = combinations
      .filter((one) => one.part === "unseen")
      .sort((one, other) => one.accuracy - other.accuracy)[0];
    assert.ok((await part.locator(".combination-lowest").innerText()).includes(worst.digits.join(" ")));
    assert.match(
      await hover(page, part.locator(".combination-bars tbody td").first()),
      /unseen, less than 55 %.*of.*share/,
    );
    if (tables) {
      const cell = part.locator(".combination-cells").nth(3).locator("tbody tr").nth(5).locator("td").nth(2);
      assert.match(await hover(page, cell), /^digits 3 5 2 part/);
    }
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 1280);
  }
});

onPage("draws images and the values of slots in the wiring", study, {}, async (page, report) => {
  const networks = await show(page, report, "mnist-xor-and", "modular-shared");
  for (const [at, network] of networks.entries()) {
    const routing = card(page, at).locator(".routing");
    assert.equal(await routing.locator(".node").count(), network.graph.nodes.length);
    assert.equal(await routing.locator(".node-image").count(), 2);
    assert.equal(await routing.locator(".node-value").count(), 6);
    assert.equal(await routing.locator(".slot").count(), 2);
    assert.deepEqual(await routing.locator(".slot-name").allTextContents(), ["image slot 1 · m1", "image slot 2 · m1"]);
    assert.equal(await routing.locator(".edge").count(), network.graph.edges.length);
  }
  // Every value stands in the frame of its slot, images stand above, bits are in their usual order.
  const [slots, values, images] = await card(page, 0)
    .locator(".routing")
    .evaluate((routing) =>
      [".slot", ".node-value rect", ".node-image rect"].map((name) =>
        [...routing.querySelectorAll(name)].map((one) => one.getBoundingClientRect().toJSON()),
      ),
    );
  values.forEach((value, at) => {
    const slot = slots[Math.floor(at / 3)];
    assert.ok(value.left > slot.left && value.right < slot.right && value.top > slot.top && value.bottom < slot.bottom);
  });
  assert.ok(images.every((image) => image.bottom < slots[0].top));
  const text = await card(page, 0).locator(".node-value .node-gate").allTextContents();
  assert.deepEqual(text, ["bit 2", "bit 1", "bit 0", "bit 2", "bit 1", "bit 0"]);
  const title = await card(page, 0).locator(".node-value title").first().textContent();
  assert.match(title, /^image slot 1, value \d, says bit 2 of image 1, r .*, image module 1$/);
});

onPage("has the base rate beside unseen and seen accuracy only", digits(), {}, async (page) => {
  const figure = page.locator("#figure-F7");
  const text = async (measure) => {
    await drawn(page, "F7", measure);
    return figure.locator(".canvas").innerText();
  };
  assert.match(await text("unseen_accuracy"), /guessing: 75 %/);
  await figure.getByLabel("Measure").selectOption("seen_accuracy");
  assert.match(await text("seen_accuracy"), /guessing: 75 %/);
  await figure.getByLabel("Measure").selectOption("image_specialisation");
  assert.doesNotMatch(await text("image_specialisation"), /guessing/);
});

onPage("draws pale ink on dark paper in the dark", study, { colorScheme: "dark" }, async (page) => {
  const look = () =>
    page.evaluate(() => {
      const style = (selector) => getComputedStyle(document.querySelector(selector));
      return {
        ink: style(".digit canvas").filter,
        paper: style(".digit-paper").backgroundColor,
        cell: style(".combination-cells tbody td").backgroundColor,
        words: style(".combination-cells tbody td").color,
        mean: style(".module-cells tbody td").backgroundColor,
      };
    });
  const dark = await look();
  assert.equal(dark.ink, "invert(1)");
  await page.getByRole("button", { name: "Theme" }).click();
  const light = await look();
  assert.equal(light.ink, "none");
  for (const name of Object.keys(light)) {
    assert.notEqual(light[name], dark[name], name);
  }
  await page.getByRole("button", { name: "Theme" }).click();
  assert.deepEqual(await look(), dark);
  await page.emulateMedia({ media: "print" });
  assert.equal((await look()).ink, "none");
});

for (const report of [study, brokenDigits()]) {
  onPage(`fits a phone: ${report === study ? "digits" : "broken digits"}`, report, phone, async (page) => {
    const cells = new Set(report.gallery.map((network) => network.cell)).size;
    for (let at = 0; at < cells; ++at) {
      await page.locator(".network").first().waitFor();
      assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390);
      const inside = await page.evaluate(() =>
        [...document.querySelectorAll(".image-parts table, .image-parts ul, .image-parts p, .example")].every(
          (one) => one.getBoundingClientRect().right <= 374 && one.scrollWidth <= one.clientWidth + 1,
        ),
      );
      assert.ok(inside, `cell ${at}`);
      await page.getByLabel("Next cell").click();
    }
  });
}

onPage("answers a tap on a cell", study, phone, async (page, report) => {
  await show(page, report, "mnist-xor-and", "modular-shared");
  const cell = card(page, 0).locator(".combination-cells tbody tr").nth(2).locator("td").nth(3);
  await cell.evaluate((element) => element.scrollIntoView({ block: "center", behavior: "instant" }));
  await cell.tap();
  assert.match(await tooltip(page), /^digits 2 3 /);
});

onPage("bears details that are broken or missing", brokenDigits(), {}, async (page, report) => {
  const text = {};
  for (const { cell } of report.gallery) {
    await page.locator("#networks select").nth(1).selectOption(cell);
    assert.equal(await page.locator(".image-part").count(), 3, cell);
    assert.equal(await page.locator("img, b, #page script, [onerror], [onmouseover]").count(), 0, cell);
    text[cell] = await page.locator(".network").innerText();
    for (const one of await page.locator(".image-parts [tabindex='0']").all()) {
      await one.focus();
      await page.keyboard.press("ArrowRight");
    }
  }
  for (const cell of ["nothing at all", "empty lists"]) {
    for (const words of [/no samples/, /was not recorded/, /No combinations/]) {
      assert.match(text[cell], words);
    }
  }
  assert.match(text["nulls everywhere"], /– unseen[\s\S]*– seen/);
  assert.ok(text.hostile.includes(hostileName) && text.hostile.includes("<b onmouseover=alert(6)>image</b>"));

  await page.locator("#networks select").nth(1).selectOption("wrong pixels");
  assert.equal(await page.locator(".digit-missing").count(), 4);
  assert.equal(await page.locator(".digit canvas").count(), 16);
  assert.match(text["wrong pixels"], /was not at hand/);
  await page.locator("#networks select").nth(1).selectOption("nulls everywhere");
  assert.equal(await page.locator(".combination-cells td.combination").count(), 1);
});

onPage("shows nothing of this in a study without images", finished(), {}, async (page) => {
  await page.locator(".network").first().waitFor();
  assert.equal(await page.locator(".image-parts, .slot, canvas").count(), 0);
  assert.match(await page.locator(".network header").first().innerText(), /test$/);
  assert.doesNotMatch(await page.locator("#networks").innerText(), /unseen|image/);
  assert.doesNotMatch(await page.locator("#reading").innerText(), /unseen/i);
});
