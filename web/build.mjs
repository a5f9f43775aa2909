// Makes the page of its sources (one script, one style sheet, one document) and the script of the report that
// `telltale analyze --html` writes, with the hash by which that report's policy knows it.
//
//   node build.mjs [FOLDER]      default: dist
import { createHash } from "node:crypto";
import { copyFile, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { build } from "esbuild";

const outdir = process.argv[2] ?? "dist";
const options = { bundle: true, minify: true, target: "es2022", charset: "utf8", legalComments: "none", logLevel: "warning", outdir };
await build({ ...options, entryPoints: { page: "src/main.ts", report: "src/report/main.ts" } });
await build({ ...options, entryPoints: { page: "src/style.css" } });
await copyFile("src/index.html", join(outdir, "index.html"));

const report = await readFile(join(outdir, "report.js"));
await writeFile(join(outdir, "report.sha256"), "sha256-" + createHash("sha256").update(report).digest("base64"));
