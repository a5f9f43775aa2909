/** The report of `telltale analyze --html`, opened from disk: with its script, and without. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Locator, Page } from "playwright-core";
import { keepPicture, namelessControls, newPage, withChromium } from "./chromium.js";
import { Folder, MLP, telltale } from "./command.js";

withChromium();
const folder = new Folder();
const report = `${folder.path}/report.html`;
before(() => {
  telltale("analyze", MLP, "--html", report);
});
after(() => {
  folder.remove();
});

async function openReport(options: Parameters<typeof newPage>[0] = {}): Promise<{ page: Page; canvas: Locator; readout: Locator }> {
  const page = await newPage(options);
  const asked: string[] = [];
  page.on("request", (request) => asked.push(request.url()));
  await page.goto(`file://${report}`);
  assert.deepEqual(asked, [`file://${report}`], "the file asks for nothing else");
  if (options.javaScriptEnabled !== false) await page.waitForFunction(isPainted, null, { polling: 25 });
  return { page, canvas: page.locator(".timeline canvas"), readout: page.locator(".timeline .readout") };
}

/** In the page. */
function isPainted(): boolean {
  const canvas = document.querySelector<HTMLCanvasElement>(".timeline canvas");
  return canvas?.getContext("2d")?.getImageData(0, 0, canvas.width, canvas.height).data.some((value) => value !== 0) ?? false;
}

const pixels = (canvas: Locator): Promise<string> => canvas.evaluate((node) => (node as HTMLCanvasElement).toDataURL());

/** Waits until the picture is another one. */
async function redrawn(canvas: Locator, before: string): Promise<string> {
  for (let tries = 0; tries < 200; ++tries) {
    const now = await pixels(canvas);
    if (now !== before) return now;
    await canvas.page().waitForTimeout(25);
  }
  return assert.fail("the picture stays as it was");
}

test("a finding leads to its place in the step, and on to the next", async () => {
  const { page, canvas, readout } = await openReport();
  const all = await pixels(canvas);
  const second = page.locator("#finding-2");
  const title = await second.locator("h3").innerText();
  await second.getByRole("button", { name: "Show in the step" }).click();
  await readout.getByText(title).waitFor();
  assert.match(await readout.innerText(), /place 1 of \d+/);
  const shown = await redrawn(canvas, all);
  await second.getByRole("button", { name: "Show in the step" }).click();
  await readout.getByText(/place 2 of \d+/).waitFor();
  await redrawn(canvas, shown);
  await page.getByRole("button", { name: "Show the whole step" }).click();
});

test("one zooms with Ctrl and the wheel, drags, and reads what is under the pointer", async () => {
  const { page, canvas } = await openReport();
  await canvas.scrollIntoViewIfNeeded();
  const all = await pixels(canvas);
  const box = await canvas.boundingBox();
  assert(box);
  await page.mouse.move(box.x + box.width / 2, box.y + 100);
  await page.keyboard.down("Control");
  for (let turns = 0; turns < 10; ++turns) await page.mouse.wheel(0, -100);
  await page.keyboard.up("Control");
  const zoomed = await redrawn(canvas, all);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width / 2 - 150, box.y + 100, { steps: 4 });
  await page.mouse.up();
  await redrawn(canvas, zoomed);
  const tip = page.locator(".timeline .tip");
  for (let y = 40; y < box.height && !(await tip.isVisible()); y += 12) await page.mouse.move(box.x + box.width / 2, box.y + y);
  assert.match(await tip.innerText(), /\d (ns|µs|ms) at \d/);
  const scrolled = await page.evaluate(() => scrollY);
  await page.mouse.wheel(0, 200);
  await page.waitForFunction((before) => scrollY !== before, scrolled, { polling: 50 });
});

test("keys move and zoom, and every control has a name", async () => {
  const { page, canvas } = await openReport();
  assert.deepEqual(await namelessControls(page), []);
  const all = await pixels(canvas);
  await canvas.focus();
  await page.keyboard.press("+");
  const zoomed = await redrawn(canvas, all);
  await page.keyboard.press("ArrowRight");
  const moved = await redrawn(canvas, zoomed);
  await page.keyboard.press("0");
  await redrawn(canvas, moved);
  assert.equal(await pixels(canvas), all);
});

test("without script the step is drawn as a fixed picture", async () => {
  const { page } = await openReport({ javaScriptEnabled: false });
  assert.equal(await page.locator("#strip-picture svg").first().isVisible(), true);
  assert.equal(await page.locator(".timeline").count(), 0);
});

for (const colorScheme of ["light", "dark"] as const) {
  test(`the report looks as it should, ${colorScheme}`, async () => {
    const { page, canvas } = await openReport({ colorScheme });
    await keepPicture(page, `report-${colorScheme}`);
    await page.locator("#finding-2").getByRole("button", { name: "Show in the step" }).click();
    await canvas.scrollIntoViewIfNeeded();
    await keepPicture(page, `report-step-${colorScheme}`);
    const ground = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const isDark = /rgb\((\d+)/.exec(ground)?.[1] ?? "";
    assert.equal(Number(isDark) < 128, colorScheme === "dark");
  });
}
