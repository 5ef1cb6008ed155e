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

export async function startBrowser() {
  const folder = mkdtempSync(join(tmpdir(), "modlab-web-"));
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: [
      "--headless",
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
  return {
    // Opens the report from disk, and keeps what goes wrong and what is asked for over the network in `page.trouble`.
    async open(report, { width = 1280, height = 900, ...options } = {}) {
      const file = join(folder, `report-${++files}.html`);
      writeFileSync(file, typeof report === "string" ? report : pageWith(report));
      const context = await browser.newContext({ viewport: { width, height }, acceptDownloads: true, ...options });
      const page = await context.newPage();
      page.trouble = [];
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
      await page.goto(pathToFileURL(file).href);
      return page;
    },
    async stop() {
      await browser.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

// Makes a function that runs a test on a page of its own, which has to stay free of errors and of requests. The browser
// is there for all tests of the file.
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
      const page = await browser.open(report, options);
      await body(page, report);
      assert.deepEqual(page.trouble, []);
      await page.context().close();
    });
}
