/** Traces of other kinds than training on a GPU: each view shows what there is, and nothing that nobody recorded. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { gunzipSync } from "node:zlib";
import type { Page } from "playwright-core";
import { formatNumber, formatTime } from "../../src/format.js";
import { closePages, openPage, withChromium } from "./chromium.js";
import { Folder, ROOT, Server, answer } from "./command.js";

const NATIVE = join(ROOT, "examples/traces/inference_server.tell"); // without steps and operators
const SNAPSHOT = join(ROOT, "examples/memory/made_up_training.pickle");
const DECODE = join(ROOT, "examples/traces/decode.json.gz"); // with modules

withChromium();
const folder = new Folder();
after(() => {
  folder.remove();
});

async function withTrace(file: string, place: string, use: (page: Page) => Promise<void>): Promise<void> {
  const server = await Server.start(file);
  try {
    await use(await openPage(server, place));
  } finally {
    await closePages();
    await server.end();
  }
}

const rows = (page: Page) => page.locator("table.rows tbody tr:not(.spacer)");

/** A trace as a machine without a GPU would have recorded it. */
function withoutDevice(file: string): string {
  interface Kineto { traceEvents: { cat?: string }[]; deviceProperties?: unknown[] }
  const trace = JSON.parse(gunzipSync(readFileSync(file)).toString("utf8")) as Kineto;
  trace.traceEvents = trace.traceEvents.filter(({ cat = "" }) => !/kernel|gpu|cuda|ac2g|instant/.test(cat));
  trace.deviceProperties = [];
  return folder.file("cpu.json", JSON.stringify(trace));
}

test("modules of a program on the CPU are told by the host's time, and no column is about a GPU", async () => {
  const file = withoutDevice(DECODE);
  const said = answer("analyze", file) as { modules: { parent: number | null; forward_cpu_ns: number }[] };
  const [root] = said.modules.filter(({ parent }) => parent === null).sort((one, other) => other.forward_cpu_ns - one.forward_cpu_ns);
  assert(root !== undefined && root.forward_cpu_ns > 0);
  await withTrace(file, "view=modules", async (page) => {
    await rows(page).first().waitFor();
    assert((await rows(page).first().innerText()).includes(formatTime(root.forward_cpu_ns)));
    assert((await rows(page).first().locator(".meter.forward").count()) === 1);
    for (const view of ["modules", "lines", "operators"]) {
      await page.evaluate((id) => { location.hash = `#view=${id}`; }, view);
      await rows(page).first().waitFor();
      assert(!/GPU|[Dd]evice/.test(await page.locator("main").innerText()), view);
    }
  });
});

test("where there are no operators, their view shows what the program marked", async () => {
  const { rows: marked } = answer("top", NATIVE, "--by", "annotation") as { rows: { name: string }[] };
  await withTrace(NATIVE, "view=operators", async (page) => {
    await rows(page).first().waitFor();
    assert.deepEqual(new Set((await rows(page).locator("th").allInnerTexts()).map((text) => text.trim())), new Set(marked.map(({ name }) => name)));
    await page.getByRole("button", { name: "Annotations", pressed: true }).waitFor();
    await page.getByRole("button", { name: "Operators", exact: true }).click();
    await page.locator(".message").getByText("telltale record").waitFor();
  });
});

test("a server's overview has its counters, as the report does", async () => {
  const { counters } = answer("analyze", NATIVE) as { counters: { name: string; mean: number; minimum: number; maximum: number; values: number }[] };
  assert(counters.length > 0);
  await withTrace(NATIVE, "", async (page) => {
    const found = page.locator("table.counters tbody tr");
    await found.first().waitFor();
    const wanted = counters.map(({ name, mean, minimum, maximum, values }) => [name, ...[mean, minimum, maximum, values].map(formatNumber)]);
    assert.deepEqual((await found.allInnerTexts()).map((text) => text.split("\t")), wanted);
  });
});

test("a snapshot of memory leads to its memory, and nothing claims to be the time of a step", async () => {
  await withTrace(SNAPSHOT, "", async (page) => {
    await page.locator("h1").waitFor();
    assert.equal(await page.locator(".overview .bar").count(), 0);
    assert(!(await page.locator("main").innerText()).includes("Where the time goes"));
    await page.getByRole("link", { name: "See what holds the memory" }).click();
    await page.locator(".memory-advice h2").last().waitFor();
    await page.locator("nav a.empty", { hasText: "Operators" }).waitFor();
    await page.getByRole("link", { name: "Flame graph" }).click();
    await page.getByRole("button", { name: "Bytes at the peak", pressed: true }).waitFor();
    await page.locator(".flame-about").getByText("At the peak of the whole recording.").waitFor();
  });
});
