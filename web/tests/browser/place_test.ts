/** Where one is: links, reloading, the back button, the keyboard alone, names for screen readers. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import { drawnTimeline, namelessControls, openPage, withChromium } from "./chromium.js";
import { MLP, Server } from "./command.js";

const VIEWS = ["overview", "timeline", "operators", "kernels", "modules", "lines", "flame", "memory", "roofline", "source"];

withChromium();
let server: Server;
before(async () => {
  server = await Server.start(MLP);
});
after(() => server.end());

const selected = (page: Page): Promise<string | null> => page.locator("canvas.timeline-canvas").getAttribute("data-selected");

test("a link brings back the view, the range and the event", async () => {
  const page = await openPage(server, "view=timeline&event=40&q=aten");
  await page.locator("canvas.timeline-canvas[data-selected='40']").waitFor();
  await page.locator("canvas.timeline-canvas").focus();
  await page.keyboard.press("w", { delay: 100 });
  await page.waitForFunction(() => location.hash.includes("start="));
  await drawnTimeline(page);
  await page.waitForTimeout(500); // the range is written when it rests
  const link = page.url();
  const [start, end] = await Promise.all(["data-start", "data-end"].map((name) => page.locator("canvas.timeline-canvas").getAttribute(name)));
  assert(link.includes(`start=${String(start)}`) && link.includes(`end=${String(end)}`), link);
  const other = await page.context().newPage();
  await other.goto(link);
  await other.locator(`canvas.timeline-canvas[data-selected='40'][data-start="${String(start)}"][data-end="${String(end)}"]`).waitFor();
  assert.equal(await other.getByLabel("Search events by name").inputValue(), "aten");
});

test("the back button goes through what one has looked at", async () => {
  const page = await openPage(server);
  await page.locator("h1").waitFor();
  await page.locator("nav a", { hasText: "Kernels" }).click();
  await page.locator("table.rows").waitFor();
  await page.locator("nav a", { hasText: "Roofline" }).click();
  await page.locator("table.rows").waitFor({ state: "detached" });
  await page.goBack();
  await page.locator("table.rows").waitFor();
  await page.goBack();
  await page.locator("h1").waitFor();
  await page.goForward();
  await page.locator("table.rows").waitFor();
});

test("the token leaves the address bar, and a stranger without it gets nothing", async () => {
  const page = await openPage(server);
  await page.locator("h1").waitFor();
  assert(!page.url().includes("token"), page.url());
  const reply = await fetch(`${server.origin}/api/trace`);
  assert(reply.status >= 400, String(reply.status));
});

test("the keyboard alone leads from the overview to a kernel and its line", async () => {
  const page = await openPage(server);
  await page.locator("h1").waitFor();
  await page.keyboard.press("4");
  const table = page.getByRole("group", { name: /^Kernels/ });
  await table.locator("tbody tr th").first().waitFor();
  const name = (await table.locator("tbody tr th").first().innerText()).trim();
  for (let presses = 0; presses < 60; ++presses) {
    await page.keyboard.press("Tab");
    if (await table.evaluate((node) => node === document.activeElement)) break;
  }
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.locator(".event-panel").waitFor();
  await drawnTimeline(page);
  await page.locator(".event-panel dd").getByText("kernel", { exact: true }).first().waitFor();
  const shown = await page.locator(".event-panel h2").innerText();
  assert(shown.startsWith(name.replace(/…$/, "").slice(0, 12)), `${shown} is not ${name}`);
  const kernel = await selected(page);
  await page.keyboard.press("[");
  await page.waitForFunction((before) => (document.querySelector("canvas.timeline-canvas") as HTMLElement).dataset["selected"] !== before, kernel);
});

test("what one presses keeps the keyboard, or gives it to what is about the same", async () => {
  const page = await openPage(server, "view=operators");
  const focused = (): Promise<string> => page.evaluate(() => document.activeElement?.textContent ?? "");
  await page.locator("table.rows thead button", { hasText: "Calls" }).focus();
  await page.keyboard.press("Enter");
  await page.locator("thead [aria-sort]", { hasText: "Calls" }).waitFor();
  assert.match(await focused(), /^Calls/);

  await page.evaluate(() => { location.hash = "#view=overview"; });
  await page.getByRole("link", { name: "Show on timeline" }).first().click();
  await drawnTimeline(page);
  await page.getByRole("button", { name: "Next evidence" }).focus();
  await page.keyboard.press("Enter");
  await page.locator(".evidence-strip").getByText("evidence 2 of").waitFor();
  assert.equal(await page.evaluate(() => document.activeElement?.getAttribute("aria-label")), "Next evidence");

  const before = await page.locator(".event-panel").getAttribute("data-event");
  await page.locator(".event-panel .event-link").first().focus();
  await page.keyboard.press("Enter");
  await page.waitForFunction((id) => ![null, id].includes(document.querySelector(".event-panel")?.getAttribute("data-event") ?? null), before);
  assert.equal(await page.evaluate(() => document.activeElement?.className), "timeline-canvas");
});

test("every control of every view has a name", async () => {
  const page = await openPage(server);
  await page.locator("h1").waitFor();
  for (const view of VIEWS) {
    await page.evaluate((id) => { location.hash = `#view=${id}`; }, view);
    await page.locator("nav a[aria-current=page]").waitFor();
    await page.waitForLoadState("networkidle");
    assert.deepEqual(await namelessControls(page), [], view);
  }
});

test("the sheet of keys opens and closes", async () => {
  const page = await openPage(server);
  await page.locator("h1").waitFor();
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keys" }).getByText("go to a view").waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog", { name: "Keys" }).waitFor({ state: "hidden" });
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keys" }).waitFor();
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keys" }).waitFor({ state: "hidden" });
});

test("the theme is chosen and kept", async () => {
  const page = await openPage(server, "", { colorScheme: "light" });
  await page.locator("h1").waitFor();
  const ground = (): Promise<string> => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await ground();
  await page.locator("button.theme").click();
  await page.locator("button.theme").click();
  assert.equal(await page.locator("button.theme").innerText(), "Theme: dark");
  assert.notEqual(await ground(), light);
  const dark = await ground();
  await page.reload();
  await page.locator("h1").waitFor();
  assert.equal(await ground(), dark);
});

test("a view that does not exist is the overview, and its tab says so", async () => {
  const page = await openPage(server, "view=nonsense");
  await page.locator("h1").waitFor();
  assert.equal(await page.locator("nav[aria-label=Views] [aria-current=page]").innerText().then((text) => text.split("\n")[0]), "Overview");
});

test("a link with a search and an event says which of the matches it is", async () => {
  const page = await openPage(server, "view=timeline");
  await drawnTimeline(page);
  await page.keyboard.press("/");
  await page.keyboard.type("aten::");
  const count = page.locator(".search-count");
  await count.getByText("events").waitFor();
  for (const position of ["1 of ", "2 of ", "3 of "]) {
    await page.keyboard.press("Enter");
    await count.getByText(position).waitFor();
  }
  const text = await count.innerText();
  await page.reload();
  await count.getByText(text, { exact: true }).waitFor();
});
