// node build.mjs OUT: makes OUT/page.html (the report without its data) and OUT/figures.mjs (figures without a browser).
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const out = process.argv[2];
if (!out) {
  throw new Error("Say where the bundle goes: node build.mjs OUT");
}

const packages = new Map(); // what the page is made of: name and version, licence

function note(inputs) {
  for (const input of inputs) {
    const [folder] = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input) ?? [];
    if (folder) {
      const { name, version, license } = JSON.parse(readFileSync(join(here, folder, "package.json"), "utf8"));
      packages.set(`${name} ${version}`, license);
    }
  }
}

async function bundle(entry, options) {
  const result = await build({
    entryPoints: [join(here, "src", entry)],
    absWorkingDir: here,
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    charset: "utf8",
    legalComments: "none",
    logLevel: "warning",
    ...options,
  });
  note(Object.keys(result.metafile.inputs));
  return result.outputFiles[0].text;
}

const script = await bundle("page.ts", { format: "iife", target: "es2022", platform: "browser" });
const style = await bundle("page.css", { loader: { ".woff2": "dataurl" }, target: "es2022" });
if (/<\/(script|style)/i.test(script) || /<\/style/i.test(style)) {
  throw new Error("The bundle would end its own element.");
}

// The page runs its own script and nothing else, and reaches for nothing outside of itself.
const hash = createHash("sha256").update(script, "utf8").digest("base64");
const policy = `default-src 'none'; script-src 'sha256-${hash}'; style-src 'unsafe-inline'; font-src data:; img-src data: blob:`;

const credits = [...packages]
  .map(([name, licence]) => `${name} (${licence})`)
  .sort()
  .join(", ");
const parts = { policy, style, script, credits };
const page = readFileSync(join(here, "src", "page.html"), "utf8").replace(
  /\{\{(policy|style|script|credits)\}\}/g,
  (_, part) => parts[part],
);

mkdirSync(out, { recursive: true });
writeFileSync(join(out, "page.html"), page);
writeFileSync(
  join(out, "figures.mjs"),
  await bundle("figures.ts", { format: "esm", target: "node18", platform: "node" }),
);
