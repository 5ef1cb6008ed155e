// Sculpted networks, as the report shows them.
import assert from "node:assert/strict";
import { drawn, makeOnPage, withFigures } from "./browser.mjs";
import { finished, hostileName } from "./sample.mjs";
import { brokenSculpted, sculpted } from "./sample_sculpted.mjs";

const onPage = makeOnPage();
const study = withFigures(sculpted());
const phone = { width: 390, height: 844, isMobile: true, hasTouch: true };

// Shows a cell, and gives what the report has of it.
async function show(page, report, task, series) {
  const selects = page.locator("#networks select");
  await selects.nth(0).selectOption(task);
  if (await selects.nth(1).isEnabled()) {
    await selects.nth(1).selectOption(series);
  }
  const cell = report.sculpted.find((one) => one.task === task && one.series === series);
  assert.equal(await page.locator(".sculpted-network").count(), cell.networks.length);
  return cell;
}

const card = (page, at) => page.locator(".sculpted-network").nth(at);
const words = async (locator) => (await locator.innerText()).replace(/[\u202f\u00a0]/g, " ").replace(/\s+/g, " ");

async function moveSlider(of, value) {
  await of.locator("input[type=range]").evaluate((slider, to) => {
    slider.value = to;
    slider.dispatchEvent(new Event("input"));
  }, String(value));
}

// Edges that are drawn, whether each on its own or many as one path.
const drawnEdges = (of) =>
  of.locator(".sculpted-picture .weight").evaluateAll((paths) =>
    paths.reduce((sum, path) => sum + path.getAttribute("d").split("M").length - 1, 0),
  );

onPage("starts with a cell that has all kinds, beside its task", study, {}, async (page) => {
  assert.equal(await page.locator("#networks select").nth(0).inputValue(), "sculpt/4-1-2-2");
  assert.equal(await page.locator("#networks select").nth(1).inputValue(), "2 hidden layers");
  assert.deepEqual(await page.locator(".sculpted-network .rank").allInnerTexts(), ["Typical", "Best", "Failed"]);
  const task = page.locator(".sculpted-task");
  assert.match(await words(task), /62\.5 % of the tied networks have the true modules, on average over 4 trials/);
  await task.scrollIntoViewIfNeeded();
  const size = () => task.locator("img").evaluate((image) => image.decode().then(() => image.naturalWidth));
  assert.equal(await size(), 240);
});

onPage("says what a network is", study, {}, async (page, report) => {
  const { networks } = await show(page, report, "sculpt/4-1-2-2", "2 hidden layers");
  for (const [at, network] of networks.entries()) {
    const text = await words(card(page, at));
    const tied = network.success ? "4 with the true modules" : "none with the true modules";
    for (const part of [
      network.success ? "true modules" : "other modules",
      `edges left ${network.edges} of 720`,
      "live hidden units 5 of 48",
      `tied networks 5, ${tied}`,
      "first steps pu 55 %, pe 2.5 %",
      `seed ${network.seed}`,
      `run ${network.id}`,
      network.command,
    ]) {
      assert.ok(text.includes(part), `${part} in ${text}`);
    }
  }
  await show(page, report, "sculpt/4-1-2-2", "1 hidden layer");
  assert.equal(await card(page, 0).locator(".rank").innerText(), "Typical and failed");
});

onPage("draws modules, units and edges", study, {}, async (page, report) => {
  const { networks } = await show(page, report, "sculpt/4-1-2-2", "2 hidden layers");
  const first = card(page, 0);
  const { drawing } = networks[0];
  assert.deepEqual(await first.locator(".area-name").allTextContents(), ["G", "F1", "F2"]);
  assert.equal(await first.locator(".areas rect").count(), 3);
  assert.equal(await first.locator(".unit").count(), 4 + 3 + 2 + 2);
  assert.deepEqual(await first.locator(".unit text").allTextContents(), ["x1", "x2", "x3", "x4", "y1", "y2"]);
  const lines = first.locator(".weight");
  assert.equal(await lines.count(), drawing.weights.length);
  for (const [at, weight] of drawing.weights.entries()) {
    const line = lines.nth(at);
    assert.match(await line.getAttribute("class"), weight < 0 ? /weight-negative/ : /weight-positive/);
    assert.ok((await line.locator("title").textContent()).includes(`: ${weight}`));
  }
  assert.equal(await first.locator(".weight-crossing").count(), 1);
  // The larger the weight, the wider the line.
  const widths = await lines.evaluateAll((paths) => paths.map((path) => Number(path.getAttribute("stroke-width"))));
  const order = (list) => list.map((_, at) => at).sort((a, b) => list[a] - list[b]);
  const strongest = order(drawing.weights.map(Math.abs)).at(-1);
  assert.equal(order(widths).at(-1), strongest);
  // The inputs are at the bottom.
  const y = async (name) => (await first.locator(`.unit:has-text("${name}")`).first().boundingBox()).y;
  assert.ok((await y("x1")) > (await y("y1")));
  // A module has the colour of the true one; one that joins several has none of them.
  const fill = (of) => of.locator(".areas rect").first().getAttribute("fill");
  assert.equal(await fill(first), "#dde5f6");
  assert.equal(await fill(card(page, 2)), "#e9e9e5");
});

onPage("goes through the pruning with the slider", study, {}, async (page, report) => {
  const { networks } = await show(page, report, "sculpt/4-1-2-2", "2 hidden layers");
  const [{ history }] = networks;
  const first = card(page, 0);
  await first.locator(".attempts svg").waitFor();
  const slider = first.locator("input[type=range]");
  const result = history.findLastIndex((step) => step.accepted);
  assert.equal(Number(await slider.inputValue()), result);
  assert.match(await words(first.locator(".attempt-words")), /the result$/);
  let left = 0;
  for (const [at, step] of history.entries()) {
    await moveSlider(first, at);
    left = step.accepted ? step.edges : left;
    assert.equal(await drawnEdges(first), left, `attempt ${at}`);
    const text = await words(first.locator(".attempt-words"));
    assert.ok(text.includes(`${step.edges} edges`) && text.includes(`${step.accuracy.toFixed(1)} % right`), text);
    assert.equal(text.includes("rejected"), !step.accepted);
    assert.equal(await slider.getAttribute("aria-valuetext"), (await first.locator(".attempt-words").innerText()).trim());
    assert.equal(await first.locator(".is-last").count(), at >= result ? 1 : 0);
  }
  await moveSlider(first, 0);
  assert.equal(await first.locator(".unit-dot:not(.unit-gone)").count(), 48 - 5);
  assert.deepEqual(await first.locator(".layer-name tspan").allTextContents(), ["24", "24"]);
  await moveSlider(first, history.length - 1);
  assert.equal(await first.locator(".unit-dot:not(.unit-gone)").count(), 0);
  assert.deepEqual(await first.locator(".layer-name tspan").allTextContents(), ["3", "2"]);
  // The keyboard moves it too.
  await slider.focus();
  await page.keyboard.press("Home");
  assert.equal(await drawnEdges(first), 720);
});

onPage("draws all attempts, and shows the one at the pointer", study, {}, async (page, report) => {
  const { networks } = await show(page, report, "sculpt/4-1-2-2", "2 hidden layers");
  const [{ history }] = networks;
  const first = card(page, 0);
  const chart = first.locator(".attempts");
  await chart.locator("svg").waitFor();
  const accepted = history.filter((step) => step.accepted).length;
  assert.equal(await chart.locator(".attempt-accepted").count(), 2 * accepted, "of accuracy and of edges");
  assert.equal(await chart.locator(".attempt-rejected").count(), 2 * (history.length - accepted));
  assert.deepEqual(await chart.locator(".stage-name").allTextContents(), ["units", "edges"]);
  await chart.evaluate((element) => element.scrollIntoView({ block: "center", behavior: "instant" }));
  const before = await first.locator("input").inputValue();
  await chart.locator(".attempt-accepted").first().hover();
  assert.equal(await drawnEdges(first), 720);
  await first.locator(".rank").hover();
  assert.equal(await drawnEdges(first), networks[0].edges, "away from the chart it is as the slider has it");
  assert.equal(await first.locator("input").inputValue(), before);
  await chart.locator(".attempt-accepted").nth(1).click();
  assert.equal(await first.locator("input").inputValue(), "1");
  // The slider's thumb stands below the cursor.
  const cursor = await chart.locator(".attempt-cursor").boundingBox();
  const slider = await first.locator("input").boundingBox();
  const thumb = slider.x + 8 + ((slider.width - 16) * 1) / (history.length - 1);
  assert.ok(Math.abs(thumb - (cursor.x + cursor.width / 2)) < 1.5);
});

onPage("says when nothing was learned", study, {}, async (page, report) => {
  await show(page, report, "sculpt/4-2-4", "2 hidden layers");
  const text = await words(card(page, 1));
  assert.match(text, /did not learn.*gets 93\.8 % of the bits right/);
  assert.equal(await card(page, 1).locator("input, svg.is-last").count(), 0);
  assert.match(await words(page.locator(".sculpted-task")), /over the 3 of 4 trials that learned/);
});

onPage("speaks of trials, not of settings that were chosen", study, {}, async (page) => {
  assert.equal(await page.locator("#settings").count(), 0);
  assert.equal(await page.locator(".bar-links >> text=Settings").count(), 0);
  assert.match(await words(page.locator(".stats")), /runs 16 .*trainings 14,268 in 16 trials/);
  assert.doesNotMatch(await words(page.locator(".stats")), /diverged/);
  assert.match(await words(page.locator("#reading")), /True modules.*Error over seeds/);
  assert.doesNotMatch(await words(page.locator("#reading")), /splits|Wiring/);
  assert.equal(await page.locator(".task img").count(), 2);
  assert.equal(await page.locator(".task .gates").count(), 0);
});

onPage("names tasks without their folder, and shows a share of zero", sculpted(), {}, async (page) => {
  const bars = page.locator("#figure-F6");
  await drawn(page, "F6");
  const labels = await bars.locator("svg text").allTextContents();
  assert.ok(labels.includes("4-1-2-2") && labels.includes("4-2-4"), labels.join());
  assert.ok(labels.includes("Task (sculpt/…)"), labels.join());
  assert.equal(await bars.locator(".mark-rect path").count(), 4 + 1, "four bars, and a line for the empty one");
  await bars.getByRole("button", { name: "Over seeds" }).waitFor();
  assert.equal(await bars.getByRole("button", { name: "splits" }).count(), 0);
});

onPage("colours shares from none to all", sculpted(), {}, async (page) => {
  const map = page.locator("#figure-T2");
  await drawn(page, "T2");
  const labels = await map.locator("svg text").allTextContents();
  assert.ok(labels.includes("0.0") && labels.some((label) => label.startsWith("100.0")), labels.join());
});

onPage("fits a phone", study, phone, async (page, report) => {
  await show(page, report, "sculpt/4-1-2-2", "2 hidden layers");
  await card(page, 0).locator(".attempts svg").waitFor();
  const overflow = () => page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  assert.equal(await overflow(), 0);
  const box = await card(page, 0).locator(".sculpted-picture svg").boundingBox();
  assert.ok(box.width <= 360);
  await moveSlider(card(page, 0), 1);
  assert.ok((await drawnEdges(card(page, 0))) > 100);
  assert.equal(await overflow(), 0);
});

onPage("is dark in the dark", study, { colorScheme: "dark" }, async (page) => {
  const filter = (selector) =>
    page
      .locator(selector)
      .first()
      .evaluate((element) => getComputedStyle(element).filter);
  assert.match(await filter(".sculpted-picture"), /invert/);
  assert.match(await filter(".task-picture"), /invert/);
  await page.locator(".theme").click();
  assert.equal(await filter(".sculpted-picture"), "none");
});

onPage("bears details that are broken or missing", brokenSculpted(), {}, async (page, report) => {
  const text = {};
  for (const { series } of report.sculpted.filter((cell) => cell?.series)) {
    await page.locator("#networks select").nth(1).selectOption(series);
    assert.equal(await page.locator(".sculpted-network").count(), 1, series);
    assert.equal(await page.locator("#page script, #page b, [onerror], [onload]").count(), 0, series);
    assert.equal(await page.locator("#page img:not([src^='data:image/svg+xml'])").count(), 0, series);
    for (const slider of await page.locator("#networks input").all()) {
      await slider.focus();
      await page.keyboard.press("Home");
    }
    text[series] = await words(page.locator(".sculpted-network"));
  }
  assert.match(text["nothing at all"], /did not learn/);
  assert.match(text["no drawing"], /no drawing/);
  assert.ok(text.hostile.includes(`run ${hostileName}`));
});

onPage("is not there in a study of other networks", finished(), {}, async (page) => {
  await page.locator(".network").first().waitFor();
  assert.equal(await page.locator(".sculpted-network, .sculpted-task, .pruning").count(), 0);
  assert.equal(await page.locator("#settings").count(), 1);
});
