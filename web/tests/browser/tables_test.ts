/** What tables say of themselves: how they are sorted, over what their numbers are, and what to do where they are empty. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { formatNumber, formatTime } from "../../src/format.js";
import { closePages, openPage, withChromium } from "./chromium.js";
import { CHAIN, Folder, ROOT, Server, answer } from "./command.js";

const DECODE = join(ROOT, "examples/traces/decode.json.gz"); // whose modules stand in others
const NATIVE = join(ROOT, "examples/traces/inference_server.tell");

withChromium();
let server: Server;
before(async () => {
  server = await Server.start(CHAIN);
});
after(() => server.end());

const firstRow = (page: Page) => page.locator("table.rows tbody tr:not(.spacer)").first();

test("a table shows by what it is sorted before anybody clicks, and a click on that turns it around", async () => {
  const page = await openPage(server, "view=operators");
  const sorted = page.locator("table.rows thead [aria-sort]");
  await sorted.waitFor();
  assert.equal(await sorted.innerText(), "Self GPU ▾");
  assert.equal(await sorted.getAttribute("aria-sort"), "descending");
  await sorted.getByRole("button").click();
  await page.locator("table.rows thead [aria-sort=ascending]").waitFor();
  assert.equal(await sorted.innerText(), "Self GPU ▴");
});

test("a table says over what its numbers are, and times and calls are over the same", async () => {
  const page = await openPage(server, "view=operators");
  await page.getByText("Totals over the whole recording.").waitFor();
  await page.evaluate(() => { location.hash = "#view=operators&steps=4"; });
  await page.getByText("Totals over step 4.").waitFor();
  for (const view of ["lines", "modules", "source"]) {
    await page.evaluate((id) => { location.hash = `#view=${id}`; }, view);
    await page.getByText("Times and calls per step, the mean of 3 steps.").waitFor();
  }
});

test("modules are filtered by name, and sorted by any column", async () => {
  const said = answer("analyze", DECODE) as { step: { count: number }; modules: { name: string; parent: number | null; calls: number; forward_device_ns: number }[] };
  const decode = await Server.start(DECODE);
  after(() => decode.end());
  const page = await openPage(decode, "view=modules");
  await firstRow(page).waitFor();
  assert(said.modules.length > 100);
  const [name = ""] = said.modules.filter(({ parent }) => parent !== null).map((module) => module.name);
  await page.keyboard.press("/");
  await page.keyboard.type(name);
  const matching = said.modules.filter((module) => module.name.toLowerCase().includes(name.toLowerCase())).length;
  await page.locator(".count").getByText(`${String(matching)} of ${String(said.modules.length)} modules`).waitFor();
  assert.deepEqual(await page.locator("table.rows tbody tr:not(.spacer) th").allInnerTexts().then((names) => names.map((text) => text.replace(/^[▸▾]/, ""))), ["Sequential_0", name]);
  await page.getByLabel("Filter", { exact: true }).fill("");
  await page.locator(".count").getByText(`${String(said.modules.length)} module`).waitFor();
  const forward = page.locator("table.rows thead button", { hasText: /^Forward/ }).nth(1);
  await forward.click();
  await page.locator("table.rows thead [aria-sort=descending]", { hasText: "Forward ▾" }).waitFor();
  const dearest = said.modules.filter(({ parent }) => parent === null).reduce((most, module) => (module.forward_device_ns > most.forward_device_ns ? module : most));
  const cells = await firstRow(page).locator("td.n").allInnerTexts();
  assert.equal(cells[0], formatTime(dearest.forward_device_ns));
  assert.equal(cells[3], formatNumber(dearest.calls / said.step.count));
});

test("names that begin alike are told apart by their ends", async () => {
  const page = await openPage(server, "view=operators&filter=autograd");
  await firstRow(page).waitFor();
  const ends = await page.locator("table.rows tbody th .end").all();
  assert(ends.length > 1);
  for (const end of ends) {
    const [room, box] = await Promise.all([end.locator("xpath=ancestor::th").boundingBox(), end.boundingBox()]);
    assert(room !== null && box !== null && box.width > 20 && box.x + box.width <= room.x + room.width + 1);
  }
});

test("a line leads to its file where --source allows that, with its GPU and host time apart", async () => {
  const folder = new Folder();
  const code = Array.from({ length: 400 }, (_, at) => `value_${String(at)} = ${"very_long_name + ".repeat(8)}${String(at)}`).join("\n");
  const lines = (answer("analyze", CHAIN) as { findings: { source: { file: string } | null }[] }).findings.flatMap(({ source }) => source ?? []);
  const name = (lines[0]?.file ?? "train.py").split("/").at(-1) ?? "";
  folder.file(name, code);
  const allowed = await Server.start(CHAIN, "--source", folder.path);
  try {
    const page = await openPage(allowed);
    await page.locator(".findings .where a").first().click();
    await page.locator(".source-view tr.marked code").waitFor();
    assert(page.url().includes("view=source"), page.url());
    const room = page.locator(".source-view .row-room");
    assert(await room.evaluate((node) => node.scrollWidth > node.clientWidth), "long lines scroll");
    const width = await page.locator(".source-view tr.marked code").evaluate((node) => [node.getBoundingClientRect().width, node.closest("td")?.clientWidth ?? 0]);
    assert((width[0] ?? 0) <= (width[1] ?? 0), `a line of ${width.join(" is cut at ")}`);
    await page.evaluate(() => { location.hash = "#view=lines"; });
    await page.locator("table.rows tbody th a").first().click();
    await page.locator(".source-view tr.marked").waitFor();
  } finally {
    await closePages();
    await allowed.end();
    folder.remove();
  }
});

test("views of what was not recorded are dim, and say what to do with the recorder that was used", async () => {
  const native = await Server.start(NATIVE);
  try {
    const page = await openPage(native);
    await page.locator("nav a.empty", { hasText: "Kernels" }).waitFor();
    await page.evaluate(() => { location.hash = "#view=operators&rows=operators"; });
    await page.locator(".message").getByText("telltale record").waitFor();
    assert(!(await page.locator("main").innerText()).includes("ProfilerActivity"));
  } finally {
    await closePages();
    await native.end();
  }
});

test("tables that the page makes are saved as CSV", async () => {
  const page = await openPage(server, "view=roofline");
  for (const [view, label, head] of [["roofline", "Table as CSV", "name,class,"], ["memory", "Tables as CSV", "list,name,"], ["source", "Table as CSV", "line,device_ns,"]] as const) {
    await page.evaluate((id) => { location.hash = `#view=${id}`; }, view);
    await page.locator("main table tbody tr:not(.spacer)").first().waitFor();
    await page.locator("details.save summary").click();
    const download = page.waitForEvent("download");
    await page.getByRole("button", { name: label }).click();
    const stream = await (await download).createReadStream();
    let text = "";
    for await (const part of stream) text += String(part);
    assert(text.startsWith(head), text.slice(0, 80));
    assert(text.split("\r\n").length > 3);
    await page.keyboard.press("Escape");
  }
});

test("what a search in the flame graph finds is said in full at 1280 pixels", async () => {
  const page = await openPage(server, "view=flame");
  await page.locator("canvas.flame-canvas").waitFor();
  const field = page.getByLabel("Search calls by name");
  const before = await field.boundingBox();
  await field.fill("aten::mul");
  const found = page.locator(".flame-found");
  await found.getByText("of all").waitFor();
  assert(await found.evaluate((node) => node.scrollWidth <= node.clientWidth), await found.innerText());
  assert.equal((await field.boundingBox())?.width, before?.width);
});

test("the switch of the theme says what it is", async () => {
  const page = await openPage(server);
  await page.getByRole("button", { name: "Theme: auto" }).click();
  await page.getByRole("button", { name: "Theme: light" }).waitFor();
});
