// Runs the unit tests, tests/*.test.ts: each is made a script outside of the tree, and Node runs them all.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { build } from "esbuild";

const tests = readdirSync("tests").filter((name) => name.endsWith(".test.ts"));
const outdir = mkdtempSync(join(tmpdir(), "telltale-page-tests-"));
try {
  await build({
    entryPoints: tests.map((name) => join("tests", name)),
    outdir,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node18",
    sourcemap: "inline",
    outExtension: { ".js": ".mjs" },
    logLevel: "warning",
  });
  const scripts = tests.map((name) => join(outdir, basename(name, ".ts") + ".mjs"));
  const { status } = spawnSync(process.execPath, ["--enable-source-maps", "--test", ...scripts], { stdio: "inherit" });
  process.exitCode = status ?? 1;
} finally {
  rmSync(outdir, { recursive: true });
}
