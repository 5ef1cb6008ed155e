// node look.mjs KIND OUT.html: writes a sample report (finished, halfway, empty, hostile, digits, brokenDigits, sculpted,
// brokenSculpted, mixtures, brokenMixtures, masks, brokenMasks or contests) with the bundle in dist/.
import { writeFileSync } from "node:fs";
import { pageWith } from "../tests/web/browser.mjs";
import { samples } from "../tests/web/sample.mjs";
import { contestSamples } from "../tests/web/sample_contests.mjs";
import { digitSamples } from "../tests/web/sample_digits.mjs";
import { maskSamples } from "../tests/web/sample_masks.mjs";
import { mixtureSamples } from "../tests/web/sample_mixtures.mjs";
import { sculptedSamples } from "../tests/web/sample_sculpted.mjs";

const [kind = "finished", out = "dist/sample.html"] = process.argv.slice(2);
const all = { ...samples, ...digitSamples, ...sculptedSamples, ...mixtureSamples, ...maskSamples, ...contestSamples };
writeFileSync(out, pageWith(all[kind]()));
