// A real browser on a real file. The bundle is in the folder that MODLAB_WEB names.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";

export const web = fileURLToPath(new URL("../../web/", import.meta.url));
export const bundle = process.env.MODLAB_WEB ?? join(web, "dist");
const { chromium } = createRequire(join(web, "package.json"))("playwright-core");

// As src/report/page.cc does it.
export function pageWith(report) {
  const json = JSON.stringify(report).replace(
    /[<>&\u2028\u2029]/g,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  return readFileSync(join(bundle, "page.html"), "utf8").replace("{{report}}", () => json);
}

// The shell without windows: a window that its system takes for hidden may stop to draw frames, and then what waits to come
// into view waits for ever.
export async function startBrowser() {
  const folder = mkdtempSync(join(tmpdir(), "modlab-web-"));
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium-headless-shell",
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
  let files = 0;
  const pages = new Map(); // by their options

  async function newPage({ width = 1280, height = 900, ...options }) {
    const context = await browser.newContext({ viewport: { width, height }, acceptDownloads: true, ...options });
    const page = await context.newPage();
    // However busy the machine is: what is waited for comes, or never does.
    page.setDefaultTimeout(180_000);
    page.on("console", (message) => {
      if (message.type() === "error" || message.type() === "warning") {
        page.trouble.push(`${message.type()}: ${message.text()}`);
      }
    });
    page.on("pageerror", (error) => page.trouble.push(`exception: ${error.message}`));
    page.on("dialog", (dialog) => {
      page.trouble.push(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    page.on("request", (request) => {
      if (!/^(file|data|blob):/.test(request.url())) {
        page.trouble.push(`request: ${request.url()}`);
      }
    });
    return page;
  }

  return {
    // Opens the report from disk, and keeps what goes wrong and what is asked for over the network in `page.trouble`.
    // Reports with equal options come one after the other in one window, since to start one takes longer than to load a
    // report.
    async open(report, options = {}) {
      const file = join(folder, `report-${++files}.html`);
      writeFileSync(file, typeof report === "string" ? report : pageWith(report));
      const key = JSON.stringify(options);
      if (!pages.has(key)) {
        pages.set(key, await newPage(options));
      }
      const page = pages.get(key);
      if (page.url() !== "about:blank") {
        await page.evaluate(() => localStorage.clear()); // the theme that an earlier test chose
      }
      page.trouble = [];
      await page.bringToFront();
      await page.emulateMedia({ media: null });
      await page.mouse.move(0, 0);
      await page.goto(pathToFileURL(file).href);
      return page;
    },
    // The next report with these options gets a window of its own.
    async forget(page) {
      for (const [key, known] of pages) {
        if (known === page) {
          pages.delete(key);
        }
      }
      await page.context().close();
    },
    async stop() {
      await browser.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

// The report with these figures only: a page draws what is near what a test looks at, and that takes most of its time.
export function withFigures(report, ...ids) {
  return { ...report, figures: report.figures.filter((figure) => ids.includes(figure.id)) };
}

// Goes to a figure and waits for its chart. Goes there again and again: what is above it may grow when it is drawn, and
// push it out of view.
export async function drawn(page, id, measure) {
  const which = measure ? `[data-drawn="${measure}"]` : "[data-drawn]";
  await page.waitForFunction(
    ([anchor, chart]) => {
      document.getElementById(anchor).scrollIntoView({ behavior: "instant" });
      return document.querySelector(chart) !== null;
    },
    [`figure-${id}`, `#figure-${id} .chart${which} svg`],
    { polling: 50 },
  );
}

const kNoFrames = Symbol("no frames");
const kMostWindows = 3;

// Ends when the page has drawn nothing for half a minute although its clock goes on. Once in a few hundred tests
// Chromium stops to draw a window, for good: what waits to come into view, or to stand still before it is clicked, then
// waits for ever.
async function framesEnd(page, watch) {
  while (watch.isOn) {
    const drew = await page
      .evaluate(
        () =>
          new Promise((resolve) => {
            requestAnimationFrame(() => resolve(true));
            setTimeout(() => resolve(false), 30_000);
          }),
      )
      .catch(() => !page.isClosed()); // on its way to the next report
    if (!drew) {
      return kNoFrames;
    }
    await new Promise((resolve) => setTimeout(resolve, 1000).unref());
  }
  return undefined;
}

// Makes a function that runs a test on a page loaded for it, which has to stay free of errors and of requests. The
// browser is there for all tests of the file. A test whose window is no longer drawn begins again in a new one.
export function makeOnPage() {
  let browser;
  before(async () => {
    browser = await startBrowser();
  });
  after(async () => {
    await browser.stop();
  });
  return (name, report, options, body) =>
    test(name, async () => {
      for (let windows = 1; ; ++windows) {
        const page = await browser.open(report, options);
        const watch = { isOn: windows < kMostWindows };
        try {
          const tested = body(page, report);
          if (watch.isOn && (await Promise.race([tested, framesEnd(page, watch)])) === kNoFrames) {
            tested.catch(() => {}); // what it waits for ends with the window
            await browser.forget(page);
            continue;
          }
          await tested;
          assert.deepEqual(page.trouble, []);
          return;
        } catch (error) {
          error.message = [error.message, ...page.trouble].join("\n");
          throw error;
        } finally {
          watch.isOn = false;
        }
      }
    });
}
