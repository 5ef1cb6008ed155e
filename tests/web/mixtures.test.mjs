// Networks on rules, as the report shows them.
import assert from "node:assert/strict";
import { makeOnPage } from "./browser.mjs";
import { finished, hostileName } from "./sample.mjs";
import { brokenMixtures, mixtures } from "./sample_mixtures.mjs";
import { sculpted } from "./sample_sculpted.mjs";

const onPage = makeOnPage();
const study = mixtures();
const phone = { width: 390, height: 844, isMobile: true, hasTouch: true };

async function show(page, report, rules, seed = 0) {
  const selects = page.locator("#networks select");
  await selects.nth(1).selectOption(`${rules} rules`);
  const cell = report.mixtures.find((one) => one.cell === `rules-mlp, ${rules} rules, task seed ${seed}`);
  if (await selects.nth(2).isEnabled()) {
    await selects.nth(2).selectOption(cell.cell);
  }
  assert.equal(await page.locator(".mixture").count(), cell.networks.length);
  return cell;
}

const card = (page, at) => page.locator(".mixture").nth(at);
const words = async (locator) => (await locator.innerText()).replace(/[\u202f\u00a0]/g, " ").replace(/\s+/g, " ");
const overflow = (page) => page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);

async function moveSlider(page, value) {
  await page.locator(".mixture-time input").evaluate((slider, to) => {
    slider.value = to;
    slider.dispatchEvent(new Event("input"));
  }, String(value));
}

// [rule][place] as it is drawn, in percent.
const drawnMatrix = async (of, modules) => {
  const numbers = (await of.locator(".matrix-cell").allTextContents()).map(Number);
  return Array.from({ length: numbers.length / modules }, (_, rule) => numbers.slice(rule * modules, (rule + 1) * modules));
};

onPage("shows oracle, learned and random side by side", study, {}, async (page, report) => {
  await show(page, report, 4);
  assert.deepEqual(await page.locator(".mixture .rank").allTextContents(), [
    "gt-modular",
    "modular-op",
    "modular",
    "random",
    "monolithic",
  ]);
  const texts = await Promise.all([0, 1, 2, 3, 4].map((at) => words(card(page, at))));
  assert.match(texts[0], /oracle: gates are given/);
  assert.match(texts[1], /learned gates/);
  assert.match(texts[3], /uniform gates/);
  assert.match(texts[4], /without modules has no matrix/);
  assert.match(texts[2], /seed 1, median loss of 5 runs, run run-modular/);
  assert.equal(await card(page, 4).locator(".matrix, .use").count(), 0);
  assert.equal(await card(page, 4).locator(".mixture-curve").count(), 1);
  assert.equal(await card(page, 3).locator(".mixture-curve").count(), 0, "nothing was trained");
  assert.deepEqual(await drawnMatrix(card(page, 3), 4), Array(4).fill(Array(4).fill(25)));
  const tops = await page.locator(".mixture .matrix").evaluateAll((all) => all.map((one) => one.getBoundingClientRect().y));
  assert.equal(new Set(tops).size, 1, "in one row");
});

onPage("goes through the training with the slider", study, {}, async (page, report) => {
  const { networks } = await show(page, report, 4);
  const modular = networks[2];
  const slider = page.locator(".mixture-time input");
  assert.equal(Number(await slider.inputValue()), modular.iterations.length - 1, "begins with the end");
  for (const [at, iteration] of modular.iterations.entries()) {
    await moveSlider(page, at);
    const matrix = (await drawnMatrix(card(page, 2), 4)).flat();
    assert.deepEqual(matrix, modular.activation[at].map((share) => Math.round(share / 10)));
    const text = await words(card(page, 2));
    for (const [measure, name] of [
      ["collapse_avg", "collapse, average"],
      ["collapse_worst", "collapse, worst"],
      ["alignment", "alignment"],
      ["adaptation", "adaptation"],
      ["imi", "inverse information"],
    ]) {
      assert.ok(text.includes(`${name} ${modular.use[measure][at].toFixed(3)}`), `${measure} at ${iteration}: ${text}`);
    }
    const says = `iteration ${iteration.toLocaleString("en-US")} of 3,000`;
    assert.equal(await words(page.locator(".time-words")), says);
    assert.equal(await slider.getAttribute("aria-valuetext"), says);
    assert.deepEqual(await drawnMatrix(card(page, 3), 4), Array(4).fill(Array(4).fill(25)), "uniform all the time");
  }
  await slider.focus();
  await page.keyboard.press("Home");
  assert.match(await words(page.locator(".time-words")), /iteration 0 of/);
  assert.match(await words(card(page, 2)), /1\.2 loss/);
});

onPage("marks in the curve where the slider is, and goes where one points", study, {}, async (page, report) => {
  await show(page, report, 4);
  const curve = card(page, 2).locator(".mixture-curve");
  await curve.locator("svg").waitFor();
  const cursor = async () => (await curve.locator(".attempt-cursor").boundingBox()).x;
  await moveSlider(page, 0);
  const first = await cursor();
  await moveSlider(page, 12);
  const last = await cursor();
  await moveSlider(page, 6);
  assert.ok(Math.abs((await cursor()) - (first + last) / 2) < 1);
  const marks = await curve.locator(".curve-mark").evaluateAll((all) => all.map((one) => one.getBoundingClientRect().y));
  await moveSlider(page, 0);
  const before = await curve.locator(".curve-mark").evaluateAll((all) => all.map((one) => one.getBoundingClientRect().y));
  assert.ok(marks[0] > before[0] && marks[1] < before[1], "loss falls, collapse rises");
  const { x: left } = await curve.boundingBox();
  await curve.click({ position: { x: first - left + 0.52 * (last - first), y: 30 } });
  assert.match(await words(page.locator(".time-words")), /iteration 1,500 of/, "the nearest one");
});

onPage("puts modules in the order of rules, or as they were built", study, {}, async (page, report) => {
  const { networks } = await show(page, report, 4);
  const names = () => card(page, 1).locator(".matrix-column").allTextContents();
  const built = networks[1].activation.at(-1).map((share) => Math.round(share / 10));
  assert.deepEqual(await names(), ["4", "3", "2", "1"]);
  assert.deepEqual(
    (await drawnMatrix(card(page, 1), 4)).map((row) => row.reverse()).flat(),
    built,
  );
  await page.getByRole("button", { name: "as built" }).click();
  assert.deepEqual(await names(), ["1", "2", "3", "4"]);
  assert.deepEqual((await drawnMatrix(card(page, 1), 4)).flat(), built);
});

onPage("says numbers to the pointer and to the keyboard", study, {}, async (page, report) => {
  const { networks } = await show(page, report, 4);
  await moveSlider(page, 8);
  const share = networks[2].activation[8][4 + 0];
  const says = `${(share / 10).toFixed(1)} %`;
  const cell = card(page, 2).locator(".matrix-cell").nth(4);
  await cell.hover();
  assert.match(await words(page.locator(".tooltip")), new RegExp(`rule 2, module 1.*${says}.*2,000`));
  assert.equal((await cell.getAttribute("aria-label")).replace(/\u202f/g, " "), `rule 2, module 1: ${says}`);
  await card(page, 2).locator(".matrix-cell").first().focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowRight");
  assert.match(await words(page.locator(".tooltip")), /rule 2, module 2/);
  assert.equal(await card(page, 2).locator(".matrix-cell[tabindex='0']").count(), 1);
});

onPage("plays the training", study, {}, async (page, report) => {
  await show(page, report, 4);
  const button = page.locator(".time-play");
  await button.click();
  assert.equal(await button.textContent(), "Pause");
  await page.waitForFunction(() => Number(document.querySelector(".mixture-time input").value) >= 2);
  await page.waitForFunction(() => document.querySelector(".time-play").textContent === "Play");
  assert.equal(await page.locator(".mixture-time input").inputValue(), "12", "to the end");
});

onPage("starts where gates collapsed most, and keeps its time", study, {}, async (page, report) => {
  const collapse = ({ networks }) => Math.max(networks[1].use.collapse_avg.at(-1), networks[2].use.collapse_avg.at(-1));
  const most = report.mixtures.reduce((best, cell) => (collapse(cell) > collapse(best) ? cell : best));
  assert.equal(await page.locator("#networks select").nth(2).inputValue(), most.cell);
  await show(page, report, 32);
  assert.equal(await card(page, 2).locator(".matrix-cell").count(), 32 * 32);
  assert.equal((await card(page, 2).locator(".matrix-cell").first().textContent()).trim(), "", "too small for numbers");
  await moveSlider(page, 4);
  await show(page, report, 4, 1);
  assert.match(await words(page.locator(".time-words")), /iteration 1,000 of/);
});

onPage("speaks of rules, not of bits, and not of settings that nobody chose", study, {}, async (page) => {
  const reading = await words(page.locator("#reading"));
  assert.match(reading, /Collapse.*Specialisation/);
  assert.doesNotMatch(reading, /output bits|Wiring/);
  assert.match(reading, /the number of each split/);
  assert.equal(await page.locator("#settings").count(), 0);
  assert.match(await words(page.locator(".series")), /gt-modular 10 runs/);
});

onPage("fits a phone", study, phone, async (page, report) => {
  for (const rules of [4, 32]) {
    await show(page, report, rules);
    await card(page, 0).locator(".mixture-curve svg").waitFor();
    assert.equal(await overflow(page), 0);
    const box = await card(page, 2).locator(".matrix").boundingBox();
    assert.ok(box.width <= 360 && box.width > 150, `${box.width}`);
  }
  // The slider stays in sight, below the bar.
  await card(page, 2).locator(".matrix").scrollIntoViewIfNeeded();
  const slider = await page.locator(".mixture-time input").boundingBox();
  const bar = await page.locator(".bar").boundingBox();
  assert.ok(slider.y >= bar.y + bar.height - 1 && slider.y < 200, `${slider.y}`);
});

onPage("is dark in the dark", study, { colorScheme: "dark" }, async (page, report) => {
  await show(page, report, 4);
  const colour = () =>
    card(page, 0)
      .locator(".matrix-cell")
      .nth(1)
      .evaluate((cell) => getComputedStyle(cell).backgroundColor);
  const dark = await colour();
  await page.locator(".theme").click();
  assert.notEqual(await colour(), dark);
});

onPage("bears details that are broken or missing", brokenMixtures(), {}, async (page, report) => {
  const text = {};
  const series = page.locator("#networks select").nth(1);
  for (const name of new Set(report.mixtures.map((cell) => cell?.series).filter(Boolean))) {
    await series.selectOption(name);
    assert.ok((await page.locator(".mixture").count()) >= 1, name);
    assert.equal(await page.locator("#page script, #page b, #page img, [onerror], [onload]").count(), 0, name);
    const slider = page.locator(".mixture-time input");
    if (await slider.isVisible()) {
      await slider.focus();
      await page.keyboard.press("Home");
      await page.keyboard.press("End");
    }
    assert.equal(await overflow(page), 0, name);
    text[name] = await words(page.locator(".networks-mixtures"));
    assert.doesNotMatch(text[name], /NaN|undefined|Infinity/, name);
  }
  assert.doesNotMatch(text["nothing at all"], /^modular /);
  for (const name of ["no matrices", "matrices of another shape", "too large"]) {
    assert.match(text[name], /There is no matrix of its 4 rules/, name);
  }
  assert.match(text["no measures"], /alignment –/);
  assert.match(text["one point"], /0 loss/);
  assert.ok(text.hostile.includes(`run ${hostileName}`));
});

onPage("is not there in a study of other networks", finished(), {}, async (page) => {
  await page.locator(".network").first().waitFor();
  assert.equal(await page.locator(".mixture, .mixture-time").count(), 0);
  assert.equal(await page.locator("#settings").count(), 1);
});

const both = { ...sculpted(), figures: [], mixtures: study.mixtures };
onPage("has a section of its own beside other networks", both, {}, async (page) => {
  assert.equal(await page.locator("#mixtures .mixture").count(), 5);
  assert.equal(await page.locator("#networks .sculpted-network").count(), 3);
  assert.equal(await page.locator(".bar-links >> text=Mixtures").count(), 1);
});

onPage("says when there is nothing yet", { ...mixtures(), mixtures: [] }, {}, async (page) => {
  assert.match(await words(page.locator("#networks")), /no networks to show yet/);
});
