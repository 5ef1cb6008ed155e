// What the page is made of.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { bundle, web } from "./browser.mjs";
import { empty, finished, hostile } from "./sample.mjs";

const require = createRequire(join(web, "package.json"));

test("types are right", () => {
  const check = spawnSync(process.execPath, [require.resolve("typescript/bin/tsc"), "--noEmit", "--project", web], {
    encoding: "utf8",
  });
  assert.equal(check.stdout, "");
  assert.equal(check.status, 0);
});

test("packages are pinned, by what they contain and not by where they were fetched", () => {
  const wanted = JSON.parse(readFileSync(join(web, "package.json"), "utf8"));
  for (const version of Object.values({ ...wanted.dependencies, ...wanted.devDependencies })) {
    assert.match(version, /^\d+\.\d+\.\d+$/);
  }
  const lock = JSON.parse(readFileSync(join(web, "package-lock.json"), "utf8"));
  for (const [name, entry] of Object.entries(lock.packages)) {
    assert.equal(entry.resolved, undefined, name);
    assert.ok(name === "" || entry.integrity, name);
  }
});

test("the page runs its own script only and loads nothing", () => {
  const page = readFileSync(join(bundle, "page.html"), "utf8");
  assert.match(page, /default-src 'none'; script-src 'sha256-[^']+'; style-src 'unsafe-inline'; font-src data:;/);
  assert.equal(page.split("{{report}}").length, 2);
  assert.ok(!/<(link|img|iframe)\b|<script[^>]+src=/i.test(page.slice(0, page.indexOf("<script>"))));
});

test("lines are told from their background, in light and dark, in every architecture", async () => {
  const { build } = require("esbuild");
  const result = await build({
    entryPoints: [join(web, "src", "palette.ts")],
    bundle: true,
    write: false,
    format: "esm",
  });
  const palette = await import(
    `data:text/javascript;base64,${Buffer.from(result.outputFiles[0].text).toString("base64")}`
  );
  const report = finished();
  const style = palette.makePalette(report);
  const seen = new Set();
  for (const { name } of report.overview.series) {
    assert.ok(palette.contrast(style(name).light, palette.kLightLook.paper) >= 3, `${name} on light`);
    assert.ok(palette.contrast(style(name).dark, palette.kDarkLook.paper) >= 3, `${name} on dark`);
    seen.add(JSON.stringify([style(name).shape, style(name).dash]));
  }
  assert.equal(seen.size, report.overview.series.length, "no two look the same without colour");
  const many = Array.from({ length: 20 }, (_, at) => ({ name: `kind ${at}` }));
  const unknown = palette.makePalette({ ...report, overview: { ...report.overview, series: many } });
  const looks = many.map(({ name }) => `${unknown(name).shape} ${unknown(name).dash}`);
  assert.equal(new Set(looks).size, many.length, "nor do names that mean nothing");
  const few = many.slice(0, 8);
  const bars = palette.makePalette({ ...report, figures: [], gallery: [], chosen: [], overview: { series: few } });
  assert.equal(new Set(few.map(({ name }) => bars(name).shape)).size, few.length, "bars have no dashes");
  for (const look of [palette.kLightLook, palette.kDarkLook]) {
    for (let step = 0; step <= 20; ++step) {
      for (const cell of [palette.rampColour(look, step / 20), palette.divergingColour(look, step / 20)]) {
        assert.ok(palette.contrast(cell, palette.inkOn(cell)) >= 4.5, `${cell}`);
      }
    }
  }
});

test("node draws a file for every figure and measure", () => {
  const folder = mkdtempSync(join(tmpdir(), "modlab-figures-"));
  try {
    for (const report of [finished(), hostile()]) {
      writeFileSync(join(folder, "report.json"), JSON.stringify(report));
      const names = execFileSync(process.execPath, [join(bundle, "figures.mjs"), join(folder, "report.json"), folder], {
        encoding: "utf8",
      })
        .trim()
        .split("\n");
      assert.equal(
        names.length,
        report.figures.reduce((sum, figure) => sum + figure.measures.length, 0),
      );
      assert.ok(names.every((name) => /^[a-z0-9_-]+$/.test(name)));
      const text = readFileSync(join(folder, "f3-test.svg"), "utf8");
      assert.match(text, /^<svg [^>]*width="\d+/);
      assert.ok(text.includes("modular-shared-fcms") && text.includes('fill="#ffffff"') && !text.includes("<img"));
    }
    writeFileSync(join(folder, "report.json"), JSON.stringify(empty()));
    assert.equal(
      execFileSync(process.execPath, [join(bundle, "figures.mjs"), join(folder, "report.json"), folder], {
        encoding: "utf8",
      }),
      "",
    );
    assert.ok(readdirSync(folder).length > 10);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
