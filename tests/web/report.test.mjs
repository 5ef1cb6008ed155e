// The report as its readers meet it: in a browser, from a file.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { drawn, makeOnPage, withFigures } from "./browser.mjs";
import { empty, finished, halfway, hostile, hostileName } from "./sample.mjs";

const onPage = makeOnPage();

function rowsOf(report, id) {
  return report.figures.find((figure) => figure.id === id).rows;
}

// How many marks of each kind the chart has; `symbol` are points, `rect` bars or cells.
function marks(page, id) {
  return page.evaluate((anchor) => {
    const counts = {};
    for (const element of document.querySelectorAll(
      `#${anchor} .canvas path, #${anchor} .canvas line, #${anchor} .canvas text`,
    )) {
      const item = element.__data__;
      const kind = item?.mark?.marktype;
      if (kind && item.mark.role === "mark" && (item.datum?.key !== undefined || kind === "line" || kind === "area")) {
        counts[kind] = (counts[kind] ?? 0) + 1;
      }
    }
    return counts;
  }, `figure-${id}`);
}

// Where the point of a row is drawn, in the window.
function spot(page, id, key, kind = "symbol") {
  return page.evaluate(
    ([anchor, wanted, marktype]) => {
      const element = [...document.querySelectorAll(`#${anchor} .canvas path`)].find(
        (path) => path.__data__?.mark?.marktype === marktype && path.__data__.datum?.key === wanted,
      );
      const box = element.getBoundingClientRect();
      return { x: box.x + box.width / 2, y: box.y + box.height / 2, height: box.height };
    },
    [`figure-${id}`, key, kind],
  );
}

async function hover(page, id, key, kind) {
  const { x, y } = await spot(page, id, key, kind);
  await page.mouse.move(x, y);
  await page.waitForSelector(".tooltip:not([hidden])");
  return (await page.locator(".tooltip").innerText()).replace(/[\u202f\u00a0]/g, " ");
}

async function downloaded(page, click) {
  const [download] = await Promise.all([page.waitForEvent("download"), click()]);
  return { name: download.suggestedFilename(), text: readFileSync(await download.path(), "utf8") };
}

function parseCsv(text) {
  const rows = [[]];
  for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n|$)/g)) {
    rows.at(-1).push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    if (end === "\r\n") {
      rows.push([]);
    } else if (end === "") {
      break;
    }
  }
  return rows.slice(0, -1);
}

const study = finished();
const oneChart = withFigures(study, "F3");
const noChart = withFigures(study);

onPage("shows what was run and which claims hold", noChart, {}, async (page, report) => {
  assert.equal(await page.title(), `${report.title} – modlab`);
  assert.equal(await page.locator("h1").innerText(), report.title);
  const stats = await page.locator(".stats").innerText();
  assert.match(stats, /5,670/);
  assert.match(stats, /AVX-512/);
  assert.equal(await page.locator(".banner").count(), 0);
  assert.equal(await page.locator(".claim").count(), report.claims.length);
  for (const verdict of ["holds", "fails", "undecided", "no data"]) {
    const expected = report.claims.filter((claim) => claim.verdict === verdict).length;
    const tally = page.locator(`.tally.verdict-${verdict.replace(" ", "-")}`);
    assert.equal(Number(await tally.locator(".tally-number").innerText()), expected);
    await tally.click();
    assert.equal(await page.locator(".claim:visible").count(), expected);
    assert.equal(await page.locator(`.claim:visible .badge >> text="${verdict}"`).first().isVisible(), true);
    await tally.click();
  }
  await page.locator("#claim-F3-4 summary").click();
  assert.equal(await page.locator("#claim-F3-4 .interval").count(), 3);
  assert.match(await page.locator("#claim-F3-4 .checks").innerText(), /−1\.90 points/);
});

onPage("folds claims without data away, and opens them when one is asked for", noChart, {}, async (page, report) => {
  const empty = report.claims.find((claim) => claim.verdict === "no data");
  const shown = report.claims.filter((claim) => claim.verdict !== "no data");
  assert.equal(await page.locator(".claim:visible").count(), shown.length);
  assert.match(await page.locator(".claims-folded > summary").innerText(), /^1 claim without data/);
  await page.evaluate((id) => (location.hash = `#claim-${id}`), empty.id);
  await page.waitForSelector(`#claim-${empty.id}`, { state: "visible" });
  await page.locator(".tally.verdict-holds").click();
  assert.equal(await page.locator(".claims-folded").isVisible(), false);
});

onPage("leads from a claim to its chart and back", withFigures(study, "F3", "F5"), {}, async (page) => {
  await page.locator("#claim-F5-1 .claim-link").click();
  await page.waitForFunction(() => Math.abs(document.getElementById("figure-F5").getBoundingClientRect().top) < 300);
  await page.locator(".tally.verdict-fails").click();
  await page.locator("#figure-F3 .claim-chip", { hasText: "F3-1" }).click();
  await page.waitForSelector("#claim-F3-1 details[open]");
  assert.equal(await page.locator("#claim-F3-1").isVisible(), true);
});

onPage("draws every point, band, bar and cell", study, {}, async (page, report) => {
  await drawn(page, "F3");
  assert.deepEqual(await marks(page, "F3"), { area: 27, line: 27 + 3, symbol: rowsOf(report, "F3").length });
  await drawn(page, "F15");
  assert.deepEqual(await marks(page, "F15"), { rect: 21, rule: 21, symbol: 21 });
  assert.match(await page.locator("#figure-F15 .canvas").innerText(), /guessing: 75 %/);
  await drawn(page, "F19");
  assert.deepEqual(await marks(page, "F19"), { rect: 45, text: 45 });
  await drawn(page, "F22");
  assert.deepEqual(await marks(page, "F22"), { area: 8, line: 8, symbol: 56 });
  assert.match(await page.locator("#figure-F22 .canvas").innerText(), /no data yet/);
  await drawn(page, "F25");
  assert.deepEqual(await marks(page, "F25"), { rect: 63, text: 63 });
  assert.equal(await page.locator("#figure-T1 tbody tr").count(), 6);
  const labels = await page.locator("#figure-F3 .canvas").innerText();
  for (const word of ["depth1", "depth2", "depth3", "Training ratio", "Test accuracy (%)", "guessing: 62.5 %"]) {
    assert.ok(labels.includes(word), word);
  }
});

onPage("shows a point's numbers and settings at the pointer", oneChart, {}, async (page, report) => {
  await drawn(page, "F3");
  const rows = rowsOf(report, "F3");
  const key = rows.findIndex((row) => row.panel === "depth2" && row.series === "modular-shared" && row.x === 0.5);
  const { test: value } = rows[key].values;
  const words = await hover(page, "F3", key);
  for (const part of [
    "modular-shared",
    "depth2",
    "0.5",
    `${value.mean.toFixed(2)} %`,
    `± ${value.within.toFixed(2)} %`,
    `± ${value.between.toFixed(2)} %`,
    `split 41: ${rows[key].chosen[1].settings}`,
  ]) {
    assert.ok(words.includes(part), `${part} in ${words}`);
  }
  await page.mouse.move(5, 5);
  assert.equal(await page.locator(".tooltip").isVisible(), false);

  const { x, y } = await spot(page, "F3", key);
  await page.mouse.click(x, y);
  const detail = page.locator("#figure-F3 .detail");
  assert.equal(await detail.locator("tbody tr").count(), 3);
  assert.equal(await detail.locator(".strip-run").count(), 9);
  await detail.getByLabel("Close").click();
  assert.equal(await detail.isVisible(), false);
});

onPage("switches measure and error", oneChart, {}, async (page, report) => {
  await drawn(page, "F3");
  const rows = rowsOf(report, "F3");
  const key = rows.findIndex((row) => row.panel === "depth1" && row.series === "dense" && row.x === 0.2);
  const before = await spot(page, "F3", key);
  const bandHeight = () =>
    page.evaluate(() =>
      [...document.querySelectorAll("#figure-F3 .canvas path")]
        .filter((path) => path.__data__?.mark?.marktype === "area")
        .reduce((sum, path) => sum + path.getBoundingClientRect().height, 0),
    );
  const within = await bandHeight();
  await page.locator("#figure-F3").getByRole("button", { name: "Between splits" }).click();
  await page.waitForFunction(
    (old) =>
      [...document.querySelectorAll("#figure-F3 .canvas path")]
        .filter((path) => path.__data__?.mark?.marktype === "area")
        .reduce((sum, path) => sum + path.getBoundingClientRect().height, 0) > old,
    within,
  );
  await page.locator("#figure-F3").getByRole("button", { name: "None" }).click();
  await page.waitForFunction(
    () =>
      ![...document.querySelectorAll("#figure-F3 .canvas path")].some(
        (path) => path.__data__?.mark?.marktype === "area",
      ),
  );

  await page.locator("#figure-F3").getByRole("button", { name: "Train accuracy" }).click();
  await drawn(page, "F3", "train");
  const later = await spot(page, "F3", key);
  assert.ok(later.y < before.y - 20, "dense networks do better on what they were trained on");
  assert.ok((await hover(page, "F3", key)).includes(`${rows[key].values.train.mean.toFixed(2)} %`));
});

onPage("hides, singles out and shows series again", oneChart, {}, async (page) => {
  await drawn(page, "F3");
  const legend = page.locator("#figure-F3 .legend");
  await legend.getByRole("button", { name: "dense" }).click();
  await page.waitForFunction(
    () =>
      [...document.querySelectorAll("#figure-F3 .canvas path")].filter(
        (path) => path.__data__?.mark?.marktype === "symbol",
      ).length === 168,
  );
  assert.equal(await legend.getByRole("button", { name: "dense" }).getAttribute("aria-pressed"), "false");
  await legend.getByRole("button", { name: "Show all" }).click();
  await page.waitForFunction(
    () =>
      [...document.querySelectorAll("#figure-F3 .canvas path")].filter(
        (path) => path.__data__?.mark?.marktype === "symbol",
      ).length === 189,
  );
});

onPage("goes from point to point with the keyboard", oneChart, {}, async (page, report) => {
  await drawn(page, "F3");
  await page.locator("#figure-F3 .chart").focus();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  await page.waitForSelector(".tooltip:not([hidden])");
  const words = await page.locator(".tooltip").innerText();
  assert.match(words, /Training ratio 0\.2/);
  await page.keyboard.press("ArrowDown");
  assert.notEqual(await page.locator(".tooltip").innerText(), words);
  await page.keyboard.press("Enter");
  assert.equal(await page.locator("#figure-F3 .detail").isVisible(), true);
  await page.locator("#figure-F3 .values summary").click();
  await page.waitForSelector("#figure-F3 .values tbody tr");
  assert.equal(await page.locator("#figure-F3 .values tbody tr").count(), rowsOf(report, "F3").length);
});

onPage("saves charts as SVG and data as CSV", withFigures(study, "F3", "T1"), { colorScheme: "dark" }, async (page, report) => {
  await drawn(page, "F3");
  await page.locator("#figure-F3 .legend").getByRole("button", { name: "sparse matched" }).click();
  const picture = await downloaded(page, () =>
    page.locator("#figure-F3").getByRole("button", { name: "Download Figure 3 as SVG" }).click(),
  );
  assert.equal(picture.name, "boolean-f3-test.svg");
  const parsed = await page.evaluate((text) => {
    const svg = new DOMParser().parseFromString(text, "image/svg+xml");
    return {
      root: svg.documentElement.tagName,
      background: svg.querySelector("rect, path[fill]")?.getAttribute("fill"),
      text: svg.documentElement.textContent,
      points: svg.querySelectorAll(".mark-symbol path").length,
    };
  }, picture.text);
  assert.equal(parsed.root, "svg");
  assert.equal(parsed.background, "#ffffff");
  for (const word of [
    "Figure 3: Accuracy against",
    "modular-shared-fcms",
    "Training ratio",
    "depth3",
    "standard error within splits",
  ]) {
    assert.ok(parsed.text.includes(word), word);
  }
  assert.ok(!parsed.text.includes("sparse matched"), "what is hidden is not in the file");
  assert.equal(parsed.points, 168 + 8, "points, and one in the legend for each series");

  const table = await downloaded(page, () =>
    page.locator("#figure-F3").getByRole("button", { name: "data of Figure 3 as CSV" }).click(),
  );
  const [head, ...lines] = parseCsv(table.text);
  assert.deepEqual(head, [
    "task",
    "architecture",
    "ratio",
    "measure",
    "unit",
    "mean",
    "se_within",
    "se_between",
    "n",
    "runs",
    "chosen",
  ]);
  const rows = rowsOf(report, "F3");
  assert.equal(lines.length, 2 * rows.length);
  assert.deepEqual(lines[3].slice(0, 5), [rows[3].panel, rows[3].series, String(rows[3].x), "test", "%"]);
  assert.equal(Number(lines[3][5]), rows[3].values.test.mean);
  assert.equal(lines[3][10], rows[3].chosen.map((one) => `split ${one.split}: ${one.settings}`).join("; "));

  const flops = await downloaded(page, () => page.locator("#figure-T1").getByRole("button", { name: "CSV" }).click());
  assert.deepEqual(parseCsv(flops.text)[2], ["modular", "depth2", "422", "242", "270"]);
});

onPage("draws wiring and curves of single networks", noChart, {}, async (page, report) => {
  await page.locator("#networks select").nth(0).selectOption("depth2");
  await page.locator("#networks select").nth(1).selectOption("modular-shared");
  await page.locator("#networks select").nth(2).selectOption({ label: "ratio 0.5" });
  const networks = report.gallery.filter((network) => network.cell === "depth2, modular-shared, ratio 0.5");
  assert.equal(await page.locator(".network").count(), 3);
  for (const [at, rank] of ["best", "median", "worst"].entries()) {
    const card = page.locator(".network").nth(at);
    const network = networks.find((one) => one.rank === rank);
    assert.equal((await card.locator(".rank").innerText()).toLowerCase(), rank);
    for (const state of ["right", "wrong", "missing", "free"]) {
      assert.equal(
        await card.locator(`.edge-${state}`).count(),
        network.graph.edges.filter((edge) => edge.state === state).length,
        `${rank} ${state}`,
      );
    }
    assert.equal(await card.locator(".node").count(), network.graph.nodes.length);
    const module = network.graph.nodes.find((node) => node.gate);
    assert.ok((await card.locator(".routing").textContent()).includes(module.gate));
    await card.locator(".curve svg").waitFor();
    assert.equal(await card.locator(".curve .mark-line path").count(), 3);
  }
  const hasFree = networks.some((network) => network.graph.edges.some((edge) => edge.state === "free"));
  assert.equal((await page.locator(".routing-key").innerText()).includes("more than the gate needs"), hasFree);
  await page.locator(".curve").first().hover();
  assert.match(await page.locator(".tooltip").innerText(), /Epoch[\s\S]*validation/);
  await page.getByLabel("Next cell").click();
  assert.match(await page.locator(".networks").innerText(), /without modules/);
});

onPage("lists, filters and saves the chosen settings", noChart, {}, async (page, report) => {
  const rows = page.locator(".chosen tbody tr");
  assert.equal(await rows.count(), 60);
  await page.getByRole("button", { name: "Show all 567 rows" }).click();
  assert.equal(await rows.count(), 567);
  await page.getByLabel("Filter by words").fill("depth2 0.7");
  await page.locator("#settings select").selectOption("modular-fc");
  const expected = report.chosen.filter((row) => row.series === "modular-fc" && row.cell === "depth2, ratio 0.7");
  assert.equal(await rows.count(), expected.length);
  const table = await downloaded(page, () => page.locator("#settings .download").click());
  assert.deepEqual(
    parseCsv(table.text)
      .slice(1)
      .map((row) => row[3]),
    expected.map((row) => row.settings),
  );
});

onPage("takes names for nothing but text", hostile(), {}, async (page, report) => {
  for (const figure of ["F19", "F25", "F3"]) {
    await drawn(page, figure);
  }
  assert.equal(
    await page.locator("img, b, i, #page script, #page style, [onerror], [onload], [onmouseover]").count(),
    0,
  );
  assert.equal(await page.locator("h1").innerText(), report.title);
  const text = await page.evaluate(() => document.body.textContent);
  for (const name of [
    hostileName,
    "</script><script>alert(2)</script>",
    "<b onmouseover=alert(3)>XOR</b>",
    "<svg onload=alert(4)>",
    "<style>*{display:none}</style>",
  ]) {
    assert.ok(text.includes(name), name);
  }
  const rows = rowsOf(report, "F3");
  const key = rows.findIndex((row) => row.panel === hostileName && row.series.startsWith("</script>") && row.x === 0.3);
  assert.ok((await hover(page, "F3", key)).includes(hostileName));
  const picture = await downloaded(page, () =>
    page.locator("#figure-F3").getByRole("button", { name: "as SVG" }).click(),
  );
  assert.ok(!/<img|<script/i.test(picture.text) && picture.text.includes("&lt;img"));
  await page.locator("#networks select").nth(0).selectOption(hostileName);
  const table = await downloaded(page, () => page.locator("#settings .download").click());
  assert.equal(parseCsv(table.text)[1][3], 'lr 0.1, note "a,b"\n<b>');
});

onPage("says what a half-finished study lacks, and shows the rest", halfway(), {}, async (page, report) => {
  const banner = await page.locator(".banner").innerText();
  assert.match(banner, /not finished/);
  assert.match(banner, /2,250 runs of 5,670/);
  assert.match(banner, /modular-fc[\s\S]*12 of 630[\s\S]*modular-shared-fcms[\s\S]*0 of 630/);
  await drawn(page, "F3");
  const values = rowsOf(report, "F3").filter((row) => row.values.test.mean !== null).length;
  const found = await marks(page, "F3");
  assert.equal(found.symbol, values);
  assert.equal(found.rule, 3, "a single point has an error bar instead of a band");
});

onPage("shows an empty study for what it is", empty(), {}, async (page, report) => {
  assert.match(await page.locator(".banner").innerText(), /Nothing has been trained yet/);
  assert.equal(await page.locator(".chart").count(), 0);
  assert.equal(await page.locator(".figure .nothing").count(), report.figures.length);
  assert.equal(await page.locator(".badge >> text=no data").count(), report.claims.length);
});

onPage("bears a report without anything", {}, {}, async (page) => {
  assert.equal(await page.locator("section.section").count(), 5);
});

for (const [name, report] of Object.entries({
  finished: study,
  halfway: halfway(),
  empty: empty(),
  hostile: hostile(),
})) {
  onPage(`fits a phone: ${name}`, report, { width: 390, height: 844, isMobile: true, hasTouch: true }, async (page) => {
    for (const claim of await page.locator(".claim summary").all()) {
      await claim.evaluate((summary) => summary.click());
    }
    for (const { id, kind } of report.figures.filter((figure) => figure.kind !== "table" && figure.rows.length)) {
      await drawn(page, id);
      const lefts = await page.evaluate(
        (anchor) =>
          [...document.querySelectorAll(`#${anchor} .canvas svg`)].map((svg) => svg.getBoundingClientRect().width),
        `figure-${id}`,
      );
      assert.ok(
        lefts.every((width) => width <= 358),
        `${id} ${kind}`,
      );
    }
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390);
  });
}

onPage("answers a tap", oneChart, { width: 390, height: 844, isMobile: true, hasTouch: true }, async (page) => {
  await drawn(page, "F3");
  const { x, y } = await spot(page, "F3", 3);
  await page.touchscreen.tap(x, y);
  await page.locator("#figure-F3 .detail tbody tr").first().waitFor();
});

onPage("is dark when the system is, and when asked", oneChart, { colorScheme: "dark" }, async (page) => {
  const lightness = () =>
    page.evaluate(() => {
      const [red, green, blue] = getComputedStyle(document.body).backgroundColor.match(/\d+/g).map(Number);
      return (red + green + blue) / 3;
    });
  const ink = () =>
    page.evaluate(() =>
      [...document.querySelectorAll("#figure-F3 .canvas text")]
        .find((text) => text.textContent === "depth1")
        .getAttribute("fill"),
    );
  await drawn(page, "F3");
  assert.ok((await lightness()) < 60);
  const onDark = await ink();
  await page.getByRole("button", { name: "Theme" }).click();
  assert.ok((await lightness()) > 200);
  await page.waitForFunction(
    (old) =>
      [...document.querySelectorAll("#figure-F3 .canvas text")].some(
        (text) => text.textContent === "depth1" && text.getAttribute("fill") !== old,
      ),
    onDark,
  );
  await page.getByRole("button", { name: "Theme" }).click();
  assert.ok((await lightness()) < 60);
});

onPage("is complete on paper", study, { colorScheme: "dark" }, async (page, report) => {
  await page.emulateMedia({ media: "print" });
  await page.evaluate(() => window.dispatchEvent(new Event("beforeprint")));
  const charts = report.figures.filter((figure) => figure.kind !== "table").length;
  await page.waitForFunction((wanted) => document.querySelectorAll(".chart[data-drawn] svg").length === wanted, charts);
  assert.equal(await page.locator(".bar").isVisible(), false);
});
