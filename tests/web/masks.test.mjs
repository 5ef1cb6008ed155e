// Masked networks, as the report shows them.
import assert from "node:assert/strict";
import { makeOnPage } from "./browser.mjs";
import { finished, hostileName } from "./sample.mjs";
import { brokenMasks, edgesByKeeper, masks } from "./sample_masks.mjs";
import { mixtures } from "./sample_mixtures.mjs";

const onPage = makeOnPage();
const study = masks();
const phone = { width: 390, height: 844, isMobile: true, hasTouch: true };

async function show(page, report, series) {
  const cell = report.masks.find((one) => one.series === series);
  await page.locator("#networks select").nth(0).selectOption(cell.task);
  const menu = page.locator("#networks select").nth(1);
  if (await menu.isEnabled()) {
    await menu.selectOption(series);
  }
  assert.equal(await page.locator(".masked").count(), cell.networks.length);
  return cell;
}

const card = (page, at) => page.locator(".masked").nth(at);
const words = async (locator) => (await locator.innerText()).replace(/[\u202f\u00a0]/g, " ").replace(/\s+/g, " ");
const overflow = (page) => page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);

onPage("shows the least shared, the median and the most shared", study, {}, async (page, report) => {
  await show(page, report, "dense");
  assert.deepEqual(await page.locator(".masked .rank").allTextContents(), ["shares least", "median", "shares most"]);
  const text = await words(card(page, 1));
  assert.match(text, /0\.300 IoU/);
  assert.match(text, /by chance 0\.20 · trained again 0\.95 · beta 0\.003/);
  assert.match(text, /of 208 weights masks keep: control \d+, y0 \d+/);
  assert.match(text, /split 40, seed 2; run run2/);
  assert.match(await words(page.locator("#networks .routing-key")), /10 runs in this cell/);
});

onPage("marks chance at the bars of every tensor", study, {}, async (page, report) => {
  const { networks } = await show(page, report, "dense");
  const median = networks[0];
  const rows = card(page, 1).locator(".sharing-bars tbody tr");
  assert.deepEqual(await rows.locator("th").allTextContents(), ["layer0", "layer1", "layer2", "all"]);
  const sharings = [...median.tensors.map((tensor) => tensor.sharing), median.sharing];
  for (const [at, sharing] of sharings.entries()) {
    for (const [column, value, chance] of [
      [0, sharing.iou, sharing.iou_chance],
      [1, sharing.iomin, sharing.iomin_chance],
    ]) {
      const bar = rows.nth(at).locator(".sharing-bar").nth(column);
      const [whole, filled, mark] = await Promise.all(
        [bar, bar.locator(".sharing-value"), bar.locator(".sharing-chance")].map((one) => one.boundingBox()),
      );
      assert.ok(Math.abs(filled.width / whole.width - value) < 0.02, `bar ${at} ${column}`);
      assert.ok(Math.abs((mark.x + mark.width / 2 - whole.x) / whole.width - chance) < 0.03, `mark ${at} ${column}`);
    }
  }
  const first = rows.nth(0).locator("td").nth(0);
  await first.hover();
  const kept = median.tensors[0].kept;
  assert.match(await words(page.locator(".tooltip")), new RegExp(`by chance 0\\.150.*y1 keeps ${kept[2]} of 48`));
  await first.focus();
  await page.keyboard.press("ArrowDown");
  assert.match(await words(page.locator(".tooltip")), /layer1/);
});

onPage("draws the layers of a small network, an edge for each kept weight", study, {}, async (page, report) => {
  const { networks } = await show(page, report, "dense");
  const network = card(page, 1).locator(".kept-network");
  const paths = network.locator(".kept-edges");
  const drawn = await paths.evaluateAll((all) => all.map((path) => path.getAttribute("d").split("M").length - 1));
  assert.deepEqual(drawn.reverse(), edgesByKeeper(networks[0]));
  const looks = await paths.evaluateAll((all) =>
    all.map((path) => `${path.getAttribute("stroke-dasharray")} ${path.getAttribute("stroke-width")}`),
  );
  assert.equal(new Set(looks).size, looks.length, "told apart without colour");
  assert.deepEqual(await network.locator("text").allTextContents(), ["x0", "x1", "x2", "x3", "y0", "y1", "y2", "y3"]);
  assert.equal(await card(page, 1).locator("canvas").count(), 0);
});

onPage("leaves one keeper in all pictures", study, {}, async (page, report) => {
  await show(page, report, "dense");
  const buttons = page.locator(".keeper-key button");
  assert.deepEqual(
    (await buttons.allTextContents()).map((text) => text.trim()),
    ["all", "1y0 alone", "2y1 alone", "3y2 alone", "4y3 alone", "+shared"],
  );
  await buttons.nth(5).click();
  for (const at of [0, 1, 2]) {
    const seen = await card(page, at)
      .locator(".kept-edges")
      .evaluateAll((all) => all.map((one) => getComputedStyle(one).visibility));
    assert.deepEqual(seen, ["visible", "hidden", "hidden", "hidden", "hidden"]);
  }
  assert.equal(await page.locator('.keeper-key [aria-pressed="true"]').count(), 1);
  await buttons.nth(0).click();
  assert.equal(
    await card(page, 0)
      .locator(".kept-edges")
      .evaluateAll((all) => all.filter((one) => getComputedStyle(one).visibility === "visible").length),
    5,
  );
});

onPage("draws modules one by one", study, {}, async (page, report) => {
  await show(page, report, "modular-shared");
  assert.deepEqual(await page.locator(".kept-network figcaption").allTextContents(), ["pool.module0", "pool.module1"]);
  assert.equal(await page.locator(".masked .rank").textContent(), "network", "there is no other to compare it with");
});

// The colours of a canvas, cell by cell.
const pixels = (canvas) =>
  canvas.evaluate((one) => {
    // Of a copy: the browser complains where a canvas is read again and again.
    const copy = new OffscreenCanvas(one.width, one.height).getContext("2d", { willReadFrequently: true });
    copy.drawImage(one, 0, 0);
    const { data } = copy.getImageData(0, 0, one.width, one.height);
    return Array.from({ length: data.length / 4 }, (_, at) => [...data.slice(4 * at, 4 * at + 3)].join(","));
  });

onPage("draws matrices of a large network, and says what is in a block", study, {}, async (page, report) => {
  const { networks } = await show(page, report, "FNN");
  const matrices = card(page, 0).locator(".mask-matrix");
  assert.equal(await matrices.count(), 3);
  assert.match(await words(matrices.nth(1)), /layers\.1 2,000 × 2,000, fullest block 100 %/);
  const canvas = matrices.nth(1).locator("canvas");
  assert.deepEqual(await canvas.evaluate((one) => [one.width, one.height]), [48, 48]);
  const all = await pixels(canvas);
  assert.ok(new Set(all).size > 100, "mixed colours");
  await page.locator(".keeper-key button").nth(1).click();
  assert.notDeepEqual(await pixels(canvas), all);
  const { letters } = networks[0].tensors[1].picture;
  const shares = [0, 1, 2].map((at) =>
    ((100 * "ABCDEFGHIJKLMNOPQRSTUVWXYZ".indexOf(letters[3 * (48 + 1) + at])) / 63).toFixed(1),
  );
  const box = await canvas.boundingBox();
  await canvas.hover({ position: { x: (1.5 * box.width) / 48, y: (1.5 * box.height) / 48 } });
  const text = await words(page.locator(".tooltip"));
  assert.match(text, /rows 42 to 83, columns 42 to 83/);
  for (const [name, share] of [
    ["add alone", shares[0]],
    ["mul alone", shares[1]],
    ["shared", shares[2]],
  ]) {
    assert.ok(share === "0.0" ? !text.includes(name) : text.includes(`${name} ${share} %`), `${name}: ${text}`);
  }
  await matrices.nth(1).locator(".mask-paper").focus();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  assert.match(await words(page.locator(".tooltip")), /columns 126 to 166/);
});

onPage("shows which operation answers, under each mask and without it", study, {}, async (page, report) => {
  const { networks } = await show(page, report, "FNN");
  const maps = card(page, 0).locator(".answer-grid figure");
  assert.deepEqual(await maps.locator("figcaption").allTextContents(), [
    "mask control",
    "all but control",
    "mask add",
    "all but add",
    "mask mul",
    "all but mul",
  ]);
  const numbers = async (at) => (await maps.nth(at).locator("td").allTextContents()).map(Number);
  assert.deepEqual(await numbers(2), networks[0].masks[1].confusion.flat());
  assert.deepEqual(await numbers(5), networks[0].masks[2].inverse_confusion.flat());
  await maps.nth(2).locator("td").nth(3).hover();
  assert.match(await words(page.locator(".tooltip")), /asked for mul, answered with add, mask add share 11\.0 %/);
  await show(page, report, "older");
  assert.equal(await maps.count(), 3, "of an older store there are no answers without a mask");
});

onPage("shows how often targets are right", study, {}, async (page, report) => {
  const { networks } = await show(page, report, "modular-shared");
  const map = card(page, 0).locator(".masked > .mask-heat, .mask-heat").first();
  const { masks: trained, unmasked } = networks[0];
  assert.deepEqual(
    (await map.locator("td").allTextContents()).map(Number),
    [unmasked, ...trained.flatMap((mask) => [mask.accuracy, mask.inverse])].flat(),
  );
});

onPage("shows how decided masks are", study, {}, async (page, report) => {
  const { networks } = await show(page, report, "FNN");
  const rows = card(page, 0).locator(".chance-bars tbody tr");
  assert.equal(await rows.count(), 3);
  const { histogram } = networks[0].masks[1];
  const bars = await rows
    .nth(1)
    .locator(".share-bar")
    .evaluateAll((all) => all.map((bar) => bar.getBoundingClientRect().height));
  assert.equal(bars.length, 20);
  const most = Math.max(...histogram);
  assert.ok(Math.abs(bars[histogram.indexOf(most)] - 34) < 1);
  assert.ok(bars.every((height, bin) => Math.abs(height - Math.max(2, 34 * Math.sqrt(histogram[bin] / most))) < 1));
  await rows.nth(1).locator("td").nth(19).hover();
  assert.match(await words(page.locator(".tooltip")), new RegExp(`mask add, 95 to 100 %.*${histogram[19]} of`));
});

onPage("draws the curve of beta where it was looked for", study, {}, async (page, report) => {
  await show(page, report, "dense");
  assert.equal(await page.locator(".beta-curve").count(), 0);
  const { networks } = await show(page, report, "FNN");
  const curve = card(page, 0).locator(".beta-curve");
  assert.equal(await curve.locator(".beta-line").count(), 3);
  assert.equal(await curve.locator(".beta-point").count(), 3 * networks[0].betas.length);
  const chosen = await curve.locator(".beta-chosen").boundingBox();
  const point = await curve.locator(".beta-point").nth(1).boundingBox();
  assert.ok(Math.abs(chosen.x - (point.x + point.width / 2)) < 1.5, "at 1e-4");
  const dashes = await curve
    .locator(".beta-line")
    .evaluateAll((all) => all.map((one) => one.getAttribute("stroke-dasharray")));
  assert.equal(new Set(dashes).size, 3, "told apart without colour");
  await curve
    .locator("svg")
    .first()
    .hover({ position: { x: chosen.x - (await curve.boundingBox()).x, y: 20 } });
  assert.match(
    await words(page.locator(".tooltip")),
    /beta 0\.0001 accuracy 99\.0 % kept weights 55\.0 % undecided 25\.0 %/,
  );
});

onPage("shows what there is of an older store", study, {}, async (page, report) => {
  await show(page, report, "older");
  assert.match(await words(card(page, 0)), /Its masks were not stored, only what they came to/);
  assert.equal(await card(page, 0).locator("canvas, .kept-network, .chance-bars").count(), 0);
  assert.equal(await card(page, 0).locator(".sharing-bars tbody tr").count(), 4);
});

onPage("says warnings and speaks of masks", study, {}, async (page, report) => {
  await show(page, report, "FNN");
  assert.match(await words(page.locator(".mask-warnings")), /the control mask keeps little/);
  await show(page, report, "older");
  assert.equal(await page.locator(".mask-doubts li").first().isVisible(), false, "many are folded");
  await page.locator(".mask-doubts summary").click();
  assert.equal(await page.locator(".mask-doubts li").count(), 3);
  assert.equal(await page.locator(".mask-doubts li").first().isVisible(), true);
  const reading = await words(page.locator("#reading"));
  assert.match(reading, /IoU and IoMin.*Chance to keep/);
  assert.doesNotMatch(reading, /output bits|Wiring/);
  assert.equal(await page.locator("#settings").count(), 0);
});

onPage("shows what later tasks take over, and no control where there is none", study, {}, async (page, report) => {
  await show(page, report, "transfer");
  assert.match(await words(card(page, 0)), /masks keep: T1 [\d,]+, T2/);
  const rights = card(page, 0).locator(".mask-heat").nth(1);
  assert.deepEqual(
    (await rights.locator("tbody th").allTextContents()).slice(0, 3),
    ["no mask", "mask T1", "all but T1"],
  );
  assert.equal(await rights.locator("tbody tr").nth(1).locator("td").nth(2).innerText(), "–", "learned later");
  const taken = card(page, 0).locator(".mask-heat").nth(0);
  assert.deepEqual(await taken.locator("thead th").allTextContents(), ["taken over, %", "T2", "T3"]);
  assert.deepEqual(await taken.locator("tbody td").allTextContents(), ["28", "57"]);
  await taken.locator("tbody td").nth(1).hover();
  assert.match(await words(page.locator(".tooltip")), /layers\.1: of the mask of T3.*share 57\.0.*by chance 31\.0/);
});

onPage("shows what is said of each class, and how masks differ from the control", study, {}, async (page, report) => {
  const { networks } = await show(page, report, "CNN");
  const maps = card(page, 0).locator(".class-maps figure");
  assert.deepEqual(await maps.locator("figcaption").allTextContents(), [
    "mask control",
    "mask without cat, difference",
    "mask without dog, difference",
  ]);
  assert.deepEqual(
    (await maps.nth(0).locator("tbody th").allTextContents()).slice(0, 3),
    ["0 airplane", "1 cat", "2 dog"],
  );
  const cells = maps.nth(1).locator("td");
  const labels = await cells.evaluateAll((all) => all.map((cell) => cell.getAttribute("aria-label")));
  assert.equal(labels.length, networks[0].classes.length ** 2);
  assert.equal(labels[0], "airplane, called airplane, mask without cat: 0.0 points");
  assert.equal(labels[11], "cat, called cat, mask without cat: −60.0 points");
  const colours = await cells.evaluateAll((all) => all.map((cell) => getComputedStyle(cell).backgroundColor));
  assert.equal(new Set([colours[0], colours[11], colours[12]]).size, 3, "less, more and the same");
  await cells.nth(12).hover();
  assert.match(
    await words(page.locator(".tooltip")),
    /cat, called dog, mask without cat difference \+68\.9 points share 70\.0 % under the control mask 1\.1 %/,
  );
  await show(page, report, "FNN");
  assert.equal(await page.locator(".class-maps").count(), 0, "of answers that are no classes");
});

onPage("fits a phone", study, phone, async (page, report) => {
  for (const series of ["dense", "modular-shared", "FNN", "transfer", "CNN"]) {
    await show(page, report, series);
    assert.equal(await overflow(page), 0, series);
  }
  const box = await page.locator(".mask-matrix canvas").nth(1).boundingBox();
  assert.ok(box.width > 200 && box.width <= 358, `${box.width}`);
});

onPage("is dark in the dark", study, { colorScheme: "dark" }, async (page, report) => {
  await show(page, report, "FNN");
  const canvas = page.locator(".mask-matrix canvas").nth(1);
  const dark = await pixels(canvas);
  await page.locator(".theme").click();
  assert.notDeepEqual(await pixels(canvas), dark, "painted again");
});

onPage("bears details that are broken or missing", brokenMasks(), {}, async (page, report) => {
  const text = {};
  for (const name of new Set(report.masks.map((cell) => cell?.series).filter(Boolean))) {
    await page.locator("#networks select").nth(1).selectOption(name);
    assert.equal(await page.locator(".masked").count(), 2, name);
    assert.equal(await page.locator("#page script, #page b, #page img, [onerror], [onload]").count(), 0, name);
    assert.equal(await overflow(page), 0, name);
    text[name] = await words(page.locator(".networks-masked"));
    assert.doesNotMatch(text[name], /NaN|undefined|Infinity/, name);
    assert.equal(await page.locator("[d*=NaN], [d*=undefined], [style*=NaN]").count(), 0, name);
  }
  for (const name of ["no lists", "letters missing", "too large", "wrong kinds"]) {
    assert.match(text[name], /Its masks were not stored/, name);
  }
  assert.match(text["one target"], /one target.*nothing to share/);
  assert.ok(text.hostile.includes(`run ${hostileName}`));
  await page.locator("#networks select").nth(1).selectOption("no chain");
  assert.equal(await card(page, 0).locator("canvas").count(), 2);
  await page.locator("#networks select").nth(1).selectOption("many targets");
  assert.equal(await page.locator(".keeper-key button").count(), 52);
});

onPage("is not there in a study of other networks", finished(), {}, async (page) => {
  await page.locator(".network").first().waitFor();
  assert.equal(await page.locator(".masked, .keeper-key").count(), 0);
  assert.doesNotMatch(await words(page.locator("#reading")), /IoMin/);
});

onPage("has a section of its own beside other networks", { ...mixtures(), masks: study.masks }, {}, async (page) => {
  assert.equal(await page.locator("#masks .masked").count(), 3);
  assert.equal(await page.locator("#networks .mixture").count(), 5);
  assert.equal(await page.locator(".bar-links >> text=Masks").count(), 1);
});

onPage("says when there is nothing yet", { ...masks(), masks: [] }, {}, async (page) => {
  assert.match(await words(page.locator("#networks")), /no networks to show yet/);
});
