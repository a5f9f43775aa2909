// Runs the tests of the page in Chromium: those of tests/browser/NAME.ts, or all of them without a name.
//
//   node browser_test.mjs [NAME]
//
// TELLTALE is the command, LIVE_RECORDER the program of tests/serve/live_recorder.cpp, SCREENSHOTS a folder for what
// the views look like. Chromium is CHROMIUM, or the one that is installed.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { build } from "esbuild";

const folder = "tests/browser";
const names = process.argv[2] ? [process.argv[2]] : readdirSync(folder).filter((name) => name.endsWith("_test.ts")).map((name) => basename(name, "_test.ts"));
const outdir = mkdtempSync(join(tmpdir(), "telltale-browser-tests-"));
try {
  await build({
    entryPoints: names.map((name) => join(folder, `${name}_test.ts`)),
    outdir,
    bundle: true,
    platform: "node",
    format: "cjs", // finds playwright-core by NODE_PATH, from outside of the tree
    target: "node18",
    sourcemap: "inline",
    outExtension: { ".js": ".cjs" },
    external: ["playwright-core"],
    logLevel: "warning",
  });
  const scripts = names.map((name) => join(outdir, `${name}_test.cjs`));
  const { status } = spawnSync(process.execPath, ["--enable-source-maps", "--test", ...scripts], {
    stdio: "inherit",
    env: { ...process.env, NODE_PATH: resolve("node_modules"), TELLTALE_ROOT: resolve("..") },
  });
  process.exitCode = status ?? 1;
} finally {
  rmSync(outdir, { recursive: true });
}
