// Figures of networks on rules, as the report shows them.
import assert from "node:assert/strict";
import { drawn, makeOnPage, withFigures } from "./browser.mjs";
import { contests } from "./sample_contests.mjs";

const onPage = makeOnPage();
const study = contests();
const phone = { width: 390, height: 844, isMobile: true, hasTouch: true };
const words = async (locator) => (await locator.innerText()).replace(/[\u202f\u00a0]/g, " ").replace(/\s+/g, " ");

// The drawn marks of a kind that stand for values.
const marks = (page, id, kind) =>
  page.evaluate(
    ([anchor, marktype]) =>
      [...document.querySelectorAll(`#${anchor} .canvas path`)]
        .filter((path) => path.__data__?.mark?.marktype === marktype && path.__data__.datum?.key !== undefined)
        .map((path) => {
          const box = path.getBoundingClientRect();
          const { key, measure } = path.__data__.datum;
          return { key, measure, x: box.x + box.width / 2, y: box.y + box.height / 2, top: box.y, height: box.height };
        }),
    [`figure-${id}`, kind],
  );

onPage("stacks votes to a hundred percent, ties included", withFigures(study, "F3"), {}, async (page, report) => {
  await drawn(page, "F3");
  const figure = report.figures[0];
  const pieces = await marks(page, "F3", "rect");
  assert.equal(pieces.length, figure.rows.filter((row) => row.values.votes.mean > 0).length);
  // The pieces of one bar are as high as the axis, one on top of the other.
  const bar = pieces.filter(({ key }) => figure.rows[key].x === 2 && figure.rows[key].panel === "classification");
  assert.equal(bar.length, 4);
  bar.sort((one, other) => other.y - one.y);
  const height = bar.reduce((sum, piece) => sum + piece.height, 0);
  for (const [at, piece] of bar.entries()) {
    const share = figure.rows[piece.key].values.votes.mean / 100;
    assert.ok(Math.abs(piece.height / height - share) < 0.03, `${piece.height} of ${height} is not ${share}`);
    assert.ok(at === 0 || Math.abs(piece.top + piece.height - bar[at - 1].top) < 2, "no gap");
  }
  const legend = await page.locator("#figure-F3 .legend-item").allInnerTexts();
  assert.deepEqual(legend, ["gt-modular", "modular-op", "modular", "monolithic", "tie"]);
  await page.mouse.move(bar[0].x, bar[0].y);
  await page.waitForSelector(".tooltip:not([hidden])");
  const tip = await words(page.locator(".tooltip"));
  assert.match(tip, /gt-modular/);
  assert.match(tip, /40\.00 %/);
  assert.match(tip, /contests ?5/);
  assert.match(tip, /between task seeds/);
});

onPage("shows measures side by side", withFigures(study, "F5", "F4"), {}, async (page, report) => {
  await drawn(page, "F5");
  const bars = await marks(page, "F5", "rect");
  assert.equal(bars.length, 3 * 20);
  assert.equal(await page.locator("#figure-F5 [aria-label=Measure]").count(), 0, "nothing to choose");
  const text = await words(page.locator("#figure-F5 .canvas"));
  for (const name of ["Collapse, average", "Collapse, worst", "Alignment", "random gates"]) {
    assert.ok(text.includes(name), name);
  }
  // The tooltip tells of the measure whose panel it is in.
  for (const name of ["collapse_worst", "alignment"]) {
    const bar = bars.filter((one) => one.measure === name).sort((one, other) => other.height - one.height)[0];
    const measure = report.figures[0].measures.find((one) => one.name === name);
    await page.mouse.move(bar.x, bar.y);
    await page.waitForFunction(
      (label) => document.querySelector(".tooltip:not([hidden])")?.textContent.toLowerCase().includes(label),
      measure.label,
    );
    await page.mouse.move(0, 0);
  }
  const table = page.locator("#figure-F5 details.values");
  await table.locator("summary").click();
  await table.locator("tbody tr").first().waitFor(); // it is filled when it opens
  assert.equal(await table.locator("tbody tr").count(), 60);
});

onPage("has a scale for errors that are small", withFigures(study, "F4"), {}, async (page) => {
  await drawn(page, "F4");
  const numbers = await page.evaluate(() =>
    [...document.querySelectorAll("#figure-F4 .canvas .role-axis-label text")].map((label) => Number(label.textContent)),
  );
  assert.ok(Math.max(...numbers) < 60, `goes up to ${Math.max(...numbers)}`);
});

onPage("draws curves, measure by measure", withFigures(study, "F7"), {}, async (page, report) => {
  await drawn(page, "F7");
  assert.equal((await marks(page, "F7", "symbol")).length, report.figures[0].rows.length);
  const lines = await page.locator("#figure-F7 .canvas .mark-line path").count();
  assert.equal(lines, 8);
  await page.locator("#figure-F7").getByText("Alignment", { exact: true }).click();
  await page.waitForSelector("#figure-F7 [data-drawn=alignment]");
});

onPage("calls task seeds by their name", withFigures(study, "F5", "F7"), {}, async (page) => {
  const claims = await words(page.locator("#overview"));
  assert.match(claims, /on these task seeds: holds/);
  const tools = await words(page.locator("#figure-F7 .tools"));
  assert.match(tools, /Between task seeds/);
  assert.doesNotMatch(await words(page.locator("main")), /\bsplits?\b/);
});

onPage("has no table of choices where nothing was chosen", withFigures(study), {}, async (page) => {
  assert.equal(await page.locator("#settings").count(), 0);
});

onPage("fits a phone", study, phone, async (page) => {
  for (const id of ["F3", "F5", "F4", "F7"]) {
    await page.locator(`#figure-${id}`).scrollIntoViewIfNeeded();
    await drawn(page, id);
  }
  const over = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  assert.ok(over <= 0, `${over} pixels too wide`);
});
