/** Every view, light and dark: that it shows what it is for, and a picture of it to be looked at. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import { formatTime } from "../../src/format.js";
import { closePages, drawnTimeline, keepPicture, openPage, withChromium } from "./chromium.js";
import { CHAIN, RESNET, Server, answer } from "./command.js";

withChromium();
let server: Server;
let complete: Server;
before(async () => {
  server = await Server.start(RESNET);
  complete = await Server.start(CHAIN);
});
after(async () => {
  await server.end();
  await complete.end();
});

/** What must be there before the view can be called drawn. */
const SIGNS: Record<string, (page: Page) => Promise<void>> = {
  overview: (page) => page.locator("h1").waitFor(),
  timeline: drawnTimeline,
  operators: (page) => page.locator("table.rows tbody th").first().waitFor(),
  kernels: (page) => page.locator("table.rows tbody th").first().waitFor(),
  modules: (page) => page.locator("table.rows tbody th, main p").first().waitFor(),
  lines: (page) => page.locator("table.rows tbody th, main p").first().waitFor(),
  flame: (page) => page.locator("canvas.flame-canvas").waitFor(),
  memory: (page) => page.locator(".memory-view, .message").first().waitFor(),
  roofline: (page) => page.locator("main svg, main .message").first().waitFor(),
  source: (page) => page.locator("main p, main table").first().waitFor(),
};

for (const colorScheme of ["light", "dark"] as const) {
  test(`all views, ${colorScheme}`, async () => {
    const page = await openPage(complete, "", { colorScheme });
    await page.locator("h1").waitFor();
    for (const [view, drawn] of Object.entries(SIGNS)) {
      await page.evaluate((id) => { location.hash = `#view=${id}`; }, view);
      await drawn(page);
      await page.locator(".loading").waitFor({ state: "detached" });
      await keepPicture(page, `${view}-${colorScheme}`);
      const isWider = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
      assert.equal(isWider, false, `${view} is wider than the window`);
    }
  });
}

test("views fill a large screen as well", async () => {
  const page = await openPage(server, "", { viewport: { width: 2560, height: 1440 } });
  await page.locator("h1").waitFor();
  await keepPicture(page, "overview-large");
  await page.evaluate(() => { location.hash = "#view=timeline"; });
  await drawnTimeline(page);
  await keepPicture(page, "timeline-large");
  const width = await page.locator("canvas.timeline-canvas").evaluate((node) => node.clientWidth);
  assert(width > 1500, String(width));
});

test("a table has the rows and numbers of telltale top", async () => {
  const said = answer("top", RESNET, "--by", "kernel", "--limit", "0") as { rows: { name: string; calls: number; self_device_ns: number }[] };
  const page = await openPage(server, "view=kernels");
  await page.locator("table.rows tbody th").first().waitFor();
  const count = await page.locator(".count").innerText();
  assert.equal(count, `${String(said.rows.length)} rows`);
  const longest = said.rows.reduce((most, row) => (row.self_device_ns > most.self_device_ns ? row : most));
  const first = page.locator("table.rows tbody tr:not(.spacer)").first();
  assert((await first.innerText()).includes(formatTime(longest.self_device_ns)), await first.innerText());
  const filter = page.getByLabel("Filter", { exact: true });
  await filter.fill("no such kernel");
  await page.getByText("Nothing has “no such kernel”").waitFor();
  await filter.fill("");
  await page.locator(".count").getByText(count).waitFor();
});

test("a table is sorted by the column that is clicked", async () => {
  const page = await openPage(server, "view=operators");
  const calls = page.locator("table.rows thead button", { hasText: "calls" }).or(page.locator("table.rows thead button", { hasText: "Calls" })).first();
  await calls.click();
  const column = page.locator("table.rows th[aria-sort]");
  await column.waitFor();
  const at = await column.evaluate((node) => (node as HTMLTableCellElement).cellIndex);
  const sort = await column.getAttribute("aria-sort");
  const cells = await page.locator(`table.rows tbody tr:not(.spacer) > :nth-child(${String(at + 1)})`).allInnerTexts();
  const numbers = cells.map((cell) => Number(cell.replaceAll(",", "")));
  assert(numbers.length > 5);
  const sorted = [...numbers].sort((one, other) => (sort === "descending" ? other - one : one - other));
  assert.deepEqual(numbers, sorted);
});

test("a table is saved as CSV with all its rows", async () => {
  const page = await openPage(server, "view=operators");
  await page.locator("table.rows tbody th").first().waitFor();
  const rows = Number((await page.locator(".count").innerText()).replace(/\D/g, ""));
  const coming = page.waitForEvent("download");
  await page.locator("a.button", { hasText: "CSV" }).click();
  const stream = await (await coming).createReadStream();
  let text = "";
  for await (const part of stream) text += String(part);
  assert.equal(text.trim().split(/\r?\n/).length, rows + 1);
});

test("memory by module is drawn to scale, and a module leads to the timeline", async () => {
  const chain = await Server.start(CHAIN);
  try {
    const page = await openPage(chain, "view=memory");
    const tiles = page.locator(".memory-treemap g");
    await tiles.first().waitFor();
    const { at: { modules: rows } } = (await page.evaluate(async () => (await fetch("api/memory")).json() as Promise<unknown>)) as { at: { modules: { name: string; bytes: number }[] } };
    const areas = await page.locator(".memory-treemap rect").evaluateAll((rects) => rects.map((rect) => (Number(rect.getAttribute("width")) + 1) * (Number(rect.getAttribute("height")) + 1)));
    assert.equal(areas.length, rows.length);
    const [all, total] = [areas.reduce((sum, area) => sum + area, 0), rows.reduce((sum, { bytes }) => sum + bytes, 0)];
    rows.forEach(({ name, bytes }, i) => { assert(Math.abs((areas[i] ?? 0) / all - bytes / total) < 1e-3, name); });
    await tiles.first().focus();
    await page.keyboard.press("ArrowRight");
    assert((await page.evaluate(() => document.activeElement?.getAttribute("aria-label") ?? "")).startsWith(rows[1]?.name ?? "?"));
    await page.keyboard.press("Enter");
    await page.locator(".event-panel").waitFor();
  } finally {
    await closePages();
    await chain.end();
  }
});
