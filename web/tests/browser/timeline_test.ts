/** The timeline: moving, zooming, choosing, searching, following arrows, ranges and tracks. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Locator, Page } from "playwright-core";
import { formatCount, formatTime } from "../../src/format.js";
import { drawnTimeline, openPage, withChromium } from "./chromium.js";
import { MLP, Server, answer } from "./command.js";

interface Averages {
  rows: { name: string; calls: number }[];
}

withChromium();
let server: Server;
before(async () => {
  server = await Server.start(MLP);
});
after(() => server.end());

async function openTimeline(place = ""): Promise<{ page: Page; canvas: Locator }> {
  const page = await openPage(server, `view=timeline${place}`);
  await drawnTimeline(page);
  return { page, canvas: page.locator("canvas.timeline-canvas") };
}

async function seen(canvas: Locator): Promise<{ start: number; end: number; length: number }> {
  const [start, end] = [Number(await canvas.getAttribute("data-start")), Number(await canvas.getAttribute("data-end"))];
  return { start, end, length: end - start };
}

async function choose(page: Page, text: string): Promise<void> {
  await page.keyboard.press("/");
  await page.keyboard.type(text);
  await page.keyboard.press("Enter");
  await page.locator(".event-panel").waitFor();
}

/** Waits until the picture shows another range, and says which. */
async function moved(page: Page, canvas: Locator, from: { start: number; end: number }): Promise<{ start: number; end: number; length: number }> {
  await page.waitForFunction(
    ({ start, end }) => {
      const { dataset } = document.querySelector("canvas.timeline-canvas") as HTMLElement;
      return dataset["start"] !== String(start) || dataset["end"] !== String(end);
    },
    from,
  );
  return seen(canvas);
}

test("the wheel zooms at the pointer, and dragging pans", async () => {
  const { page, canvas } = await openTimeline();
  const box = await canvas.boundingBox();
  assert(box);
  const whole = await seen(canvas);
  await page.mouse.move(box.x + box.width / 4, box.y + box.height / 2);
  await page.mouse.wheel(0, -300);
  const zoomed = await moved(page, canvas, whole);
  assert(zoomed.length < whole.length / 1.5, `${String(zoomed.length)} of ${String(whole.length)}`);
  const under = (range: { start: number; length: number }): number => range.start + range.length / 4;
  assert(Math.abs(under(zoomed) - under(whole)) < whole.length / 100, "what is under the pointer stays there");

  await page.mouse.down();
  await page.mouse.move(box.x + box.width / 4 + 200, box.y + box.height / 2, { steps: 5 });
  await page.mouse.up();
  await page.waitForFunction((start) => Number((document.querySelector("canvas.timeline-canvas") as HTMLElement).dataset["start"]) < start, zoomed.start);
  const panned = await seen(canvas);
  const expected = zoomed.start - (200 / box.width) * zoomed.length;
  assert(Math.abs(panned.start - expected) < zoomed.length / 100, `${String(panned.start)} is not ${String(expected)}`);
  assert(Math.abs(panned.length - zoomed.length) < zoomed.length / 100);
});

test("keys zoom, pan and show everything", async () => {
  const { page, canvas } = await openTimeline();
  await canvas.focus();
  const first = await seen(canvas);
  await page.keyboard.press("w", { delay: 150 });
  const inside = await moved(page, canvas, first);
  assert(inside.length < first.length);
  await page.keyboard.press("d", { delay: 150 });
  const right = await moved(page, canvas, inside);
  assert(right.start > inside.start);
  await page.keyboard.press("Home");
  const shape = (await page.evaluate(async () => (await fetch("api/trace")).json() as Promise<unknown>)) as { duration_ns: number };
  await page.waitForFunction((duration) => {
    const { dataset } = document.querySelector("canvas.timeline-canvas") as HTMLElement;
    return Number(dataset["start"]) <= 0 && Number(dataset["end"]) >= duration;
  }, shape.duration_ns);
});

test("search counts what the command counts, and goes from one to the next", async () => {
  const { page, canvas } = await openTimeline();
  const rows = (answer("top", MLP, "--by", "operator", "--limit", "0") as Averages).rows;
  const addmm = rows.find(({ name }) => name === "aten::addmm");
  assert(addmm);
  await page.keyboard.press("/");
  await page.keyboard.type("aten::addmm");
  const count = page.locator(".search-count");
  await count.getByText(`${formatCount(addmm.calls)} events`).waitFor();
  await page.keyboard.press("Enter");
  await count.getByText(`1 of ${formatCount(addmm.calls)}`).waitFor();
  const first = await canvas.getAttribute("data-selected");
  await page.getByRole("button", { name: "Next match" }).click();
  await count.getByText(`2 of ${formatCount(addmm.calls)}`).waitFor();
  assert.notEqual(await canvas.getAttribute("data-selected"), first);
  await page.getByRole("button", { name: "Previous match" }).click();
  await count.getByText(`1 of ${formatCount(addmm.calls)}`).waitFor();
  await page.locator(".event-panel h2").getByText("aten::addmm").waitFor();
});

test("from an operator one follows arrows to the launch and to the kernel, and back", async () => {
  const { page } = await openTimeline();
  await choose(page, "cudaLaunchKernel");
  const heading = page.locator(".event-panel h2");
  await heading.getByText("cudaLaunchKernel").waitFor();
  await page.locator("canvas.timeline-canvas").focus();
  await page.keyboard.press("]");
  await page.locator(".event-panel dd").getByText("kernel", { exact: true }).first().waitFor();
  const kernel = await heading.innerText();
  assert.notEqual(kernel, "cudaLaunchKernel");
  await page.keyboard.press("[");
  await heading.getByText("cudaLaunchKernel").waitFor();
  await page.locator(`.event-panel .relations .event-link[title="${kernel}"]`).first().click();
  await heading.getByText(kernel, { exact: true }).waitFor();
});

test("what is clicked is what was drawn there", async () => {
  const { page, canvas } = await openTimeline();
  const box = await canvas.boundingBox();
  assert(box);
  const { start, length } = await seen(canvas);
  const near = (6 * length) / box.width;
  const met = new Set<string>();
  const x = box.width / 3;
  const time = start + (x / box.width) * length;
  for (let y = 60; y < box.height - 10; y += 12) {
    await page.mouse.click(box.x + x, box.y + y);
    await page.waitForTimeout(60); // what the click chose stands in the address
    const event = new URLSearchParams(new URL(page.url()).hash.slice(1)).get("event");
    if (event === null || met.has(event)) continue;
    met.add(event);
    const { event: place } = (await page.evaluate(async (id) => (await fetch(`api/event?id=${id}`)).json() as Promise<unknown>, event)) as { event: { start_ns: number; duration_ns: number; name: string } };
    await page.locator(`.event-panel[data-event="${event}"] h2`).getByText(place.name, { exact: true }).waitFor();
    assert(place.start_ns - near <= time && time <= place.start_ns + place.duration_ns + near, `${place.name} is not at ${String(time)}`);
  }
  assert(met.size >= 2, `only ${String(met.size)} events were met`);
});

test("a range has the statistics of what is in it", async () => {
  const { page, canvas } = await openTimeline();
  const box = await canvas.boundingBox();
  assert(box);
  await page.keyboard.down("Shift");
  await page.mouse.move(box.x + 200, box.y + 10);
  await page.mouse.down();
  await page.mouse.move(box.x + 500, box.y + 12, { steps: 5 });
  await page.mouse.up();
  await page.keyboard.up("Shift");
  const panel = page.locator(".range-panel");
  await panel.waitFor();
  const [start, end] = [Number(await panel.getAttribute("data-start")), Number(await panel.getAttribute("data-end"))];
  await panel.getByText(`Range of ${formatTime(end - start)}`).waitFor();
  const asked = await page.evaluate(async (range) => (await fetch(`api/range?start=${String(range.start)}&end=${String(range.end)}`)).json() as Promise<{ events: number; devices: { busy_ns: number; idle_ns: number }[] }>, { start, end });
  await panel.getByText(`${formatCount(asked.events)} events`).waitFor();
  const [device] = asked.devices;
  assert(device);
  assert.equal(device.busy_ns + device.idle_ns, end - start);
  await panel.getByText(`Busy ${formatTime(device.busy_ns)}`).waitFor();
  assert(page.url().includes(`range=${String(start)}-${String(end)}`), page.url());
  await page.keyboard.press("Escape");
  await panel.waitFor({ state: "detached" });
});

test("tracks are filtered, folded and measured between two points", async () => {
  const { page, canvas } = await openTimeline();
  const all = Number(await canvas.getAttribute("data-rows"));
  await page.getByLabel("Filter tracks by name").fill("stream");
  await page.waitForFunction((rows) => Number((document.querySelector("canvas.timeline-canvas") as HTMLElement).dataset["rows"]) < rows, all);
  await page.getByText("hidden").first().waitFor();
  await page.getByRole("button", { name: "Show", exact: true }).click();
  await page.waitForFunction((rows) => (document.querySelector("canvas.timeline-canvas") as HTMLElement).dataset["rows"] === String(rows), all);
  await page.getByRole("button", { name: "Measure" }).click();
  await page.locator("button[aria-pressed=true]").getByText("Measure").waitFor();
});

test("pinned tracks that are higher than their room are scrolled by themselves", async () => {
  const { page, canvas } = await openTimeline();
  const pinned = await page.evaluate(async () => {
    const { tracks } = (await (await fetch("api/trace")).json()) as { tracks: { id: number; lanes: number }[] };
    return [...tracks].sort((left, right) => right.lanes - left.lanes)[0]?.id;
  });
  await page.evaluate((track) => { location.hash = `#view=timeline&pinned=${String(track)}`; }, pinned);
  const header = page.locator(`.headers-pinned .track-header[data-key="t${String(pinned)}"]`);
  await header.waitFor();
  await page.setViewportSize({ width: 1280, height: 330 });
  const box = await canvas.boundingBox();
  assert(box);
  const bar = page.locator(".track-scroll").nth(1);
  await bar.waitFor();
  const top = async (): Promise<number> => (await header.boundingBox())?.y ?? 0;
  const before = await top();
  await page.mouse.move(box.x - 60, box.y + 75);
  await page.mouse.wheel(0, 40);
  await page.waitForFunction((y) => (document.querySelector(".headers-pinned .track-header")?.getBoundingClientRect().y ?? 0) < y, before);
  const largest = await bar.evaluate((node) => node.scrollHeight - node.clientHeight);
  const moved = before - (await top());
  assert(Math.abs(moved - Math.min(40, largest)) <= 1, `${String(moved)} of ${String(largest)}`);
});

test("what an operator was called with is told in words", async () => {
  const { page } = await openTimeline();
  await choose(page, "aten::addmm");
  const inputs = page.locator(".event-panel .inputs li");
  await inputs.first().waitFor();
  const texts = await inputs.allInnerTexts();
  assert(texts.some((text) => /^(float|c10::\w+|long int) \d+ × \d+/.test(text)), texts.join("; "));
  assert(texts.every((text) => !text.includes("[[") && !text.includes('"')), texts.join("; "));
});
