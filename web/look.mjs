// node look.mjs KIND OUT.html: writes a sample report (finished, halfway, empty, hostile, digits, brokenDigits, sculpted
// or brokenSculpted) with the bundle in dist/.
import { writeFileSync } from "node:fs";
import { pageWith } from "../tests/web/browser.mjs";
import { samples } from "../tests/web/sample.mjs";
import { digitSamples } from "../tests/web/sample_digits.mjs";
import { sculptedSamples } from "../tests/web/sample_sculpted.mjs";

const [kind = "finished", out = "dist/sample.html"] = process.argv.slice(2);
writeFileSync(out, pageWith({ ...samples, ...digitSamples, ...sculptedSamples }[kind]()));
