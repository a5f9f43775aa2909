/** The timeline: moving, zooming, choosing, searching, following arrows, ranges and tracks. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Locator, Page } from "playwright-core";
import { formatCount, formatTime } from "../../src/format.js";
import { closePages, drawnTimeline, openPage, withChromium } from "./chromium.js";
import { CHAIN, MLP, RESNET, Server, answer } from "./command.js";

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

test("from a forward operator one follows an arrow to its backward, and back", async () => {
  const { page, canvas } = await openTimeline();
  // One that launches nothing itself, so that the backward is what it leads to.
  const { forward, backward } = await page.evaluate(async () => {
    interface Related { event: { id: number; name: string }; relations: { role: string; direction: string; event: { id: number; name: string } }[] }
    const get = async <T>(path: string): Promise<T> => (await fetch(path)).json() as Promise<T>;
    for (let from: number | null = null, tries = 0; tries < 200; ++tries) {
      const found: { event: { id: number } } = await get(`api/search?q=aten::&${from === null ? "" : `from=${String(from)}`}`);
      from = found.event.id;
      const { event, relations } = await get<Related>(`api/event?id=${String(from)}`);
      const [first] = relations.filter(({ direction }) => direction === "effect");
      if (first?.role === "backward" && relations.every(({ role }) => role !== "launches")) return { forward: event, backward: first.event };
    }
    throw new Error("no forward operator has a backward");
  });
  await page.evaluate((id) => { location.hash = `#view=timeline&event=${String(id)}`; }, forward.id);
  await page.locator(`.event-panel[data-event="${String(forward.id)}"]`).waitFor();
  await canvas.focus();
  await page.keyboard.press("]");
  await page.locator(`.event-panel[data-event="${String(backward.id)}"] h2`).getByText(backward.name, { exact: true }).waitFor();
  await page.locator(".event-panel .relations .event-link", { hasText: forward.name }).first().click();
  await page.locator(`.event-panel[data-event="${String(forward.id)}"] h2`).getByText(forward.name, { exact: true }).waitFor();
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
  assert((await page.locator(".event-panel dt").allInnerTexts()).includes("Autograd number"));
});

test("the line of an event is not torn apart, and a long name ends in an ellipsis", async () => {
  const chain = await Server.start(CHAIN);
  try {
    const page = await openPage(chain, "view=timeline");
    await drawnTimeline(page);
    await choose(page, "fault_suite.py(251)");
    const { height = 0 } = (await page.locator(".event-panel .source").boundingBox()) ?? {};
    const line = await page.locator(".event-panel .source").evaluate((node) => Number.parseFloat(getComputedStyle(node).fontSize) * 1.6);
    assert(height > 0 && height < 2.5 * line, `${String(height)} pixels high, a line has ${String(line)}`);
    assert.equal(await page.locator(".event-panel h2").evaluate((node) => getComputedStyle(node).webkitLineClamp), "4");
  } finally {
    await closePages();
    await chain.end();
  }
});

/** The row of idle times, in pixels of the page. */
async function idleRow(page: Page): Promise<{ x: number; y: number; width: number }> {
  const header = await page.locator(".track-header.gaps").first().boundingBox();
  const box = await page.locator("canvas.timeline-canvas").boundingBox();
  assert(header && box);
  return { x: box.x, y: header.y, width: box.width };
}

/** Which share of the row of idle times each of the trace's colors fills, by its word. */
async function filledShares(page: Page): Promise<Record<string, number>> {
  return page.evaluate(async () => {
    const canvas = document.querySelector("canvas.timeline-canvas") as HTMLCanvasElement;
    const top = (document.querySelector(".track-header.gaps") as HTMLElement).getBoundingClientRect().top - canvas.getBoundingClientRect().top;
    const { data } = (canvas.getContext("2d") as CanvasRenderingContext2D).getImageData(0, Math.round(top), canvas.width, 15);
    const { colors } = (await (await fetch("api/trace")).json()) as { colors: { word: string; light: string }[] };
    const causes = colors.filter(({ word }) => word.startsWith("idle: "));
    const distance = (color: string, at: number): number => [0, 1, 2].reduce((sum, i) => sum + (Number.parseInt(color.slice(1 + 2 * i, 3 + 2 * i), 16) - (data[at + i] ?? 0)) ** 2, 0);
    const filled: Record<string, number> = {};
    for (let at = 0; at < data.length; at += 4) {
      const [nearest] = [{ word: "", light: "#fdfdfb" }, ...causes].sort((one, other) => distance(one.light, at) - distance(other.light, at));
      const word = nearest?.word.slice("idle: ".length) ?? "";
      filled[word] = (filled[word] ?? 0) + 4 / data.length;
    }
    return filled;
  });
}

test("the idle row is colored for as much as the device idles, by cause", async () => {
  for (const trace of [CHAIN, RESNET]) {
    const other = await Server.start(trace);
    try {
      const page = await openPage(other, "view=timeline");
      await drawnTimeline(page);
      const { start, end, length } = await seen(page.locator("canvas.timeline-canvas"));
      const range = `start=${String(Math.max(0, start))}&end=${String(end)}`;
      const answered = (await page.evaluate(async (of) => (await fetch(`api/range?${of}`)).json() as Promise<unknown>, range)) as { devices: { idle: { word: string; ns: number }[] }[] };
      const filled = await filledShares(page);
      const causes = answered.devices[0]?.idle ?? [];
      assert(causes.length >= 3);
      for (const { word, ns } of causes) {
        assert(Math.abs((filled[word] ?? 0) - ns / length) < 0.015, `${word}: ${String(filled[word])} of the row, ${String(ns / length)} of the time`);
      }
    } finally {
      await closePages();
      await other.end();
    }
  }
});

test("what stands behind all work is found, and its folded track opens", async () => {
  const { page, canvas } = await openTimeline();
  assert.equal(await page.locator(".track-header .word", { hasText: "thread 0" }).count(), 0);
  await choose(page, "Record Window");
  await drawnTimeline(page);
  const { event } = (await page.evaluate(async () => (await fetch("api/search?q=Record%20Window&from=0&towards=next")).json() as Promise<unknown>)) as { event: { start_ns: number } };
  const { start, end } = await seen(canvas);
  assert(start < event.start_ns && event.start_ns < end, `${String(event.start_ns)} is not between ${String(start)} and ${String(end)}`);
  await page.locator(".track-header .word", { hasText: "thread 0" }).waitFor();
});

test("of an event and a range, what was chosen last stands on top", async () => {
  const { page, canvas } = await openTimeline();
  await choose(page, "cudaLaunchKernel");
  const box = await canvas.boundingBox();
  assert(box);
  await page.keyboard.down("Shift");
  await page.mouse.move(box.x + 200, box.y + 30);
  await page.mouse.down();
  await page.mouse.move(box.x + 400, box.y + 30, { steps: 4 });
  await page.mouse.up();
  await page.keyboard.up("Shift");
  await page.locator(".side-panel > :first-child .range-panel").waitFor();
  assert(await page.locator(".range-panel h2").isVisible());
  await page.locator(".range-panel .event-link").first().click();
  await page.locator(".side-panel > :first-child .event-panel").waitFor();
});

test("the timeline goes to the steps that are chosen, wherever that is done", async () => {
  const { page, canvas } = await openTimeline();
  const { steps } = (await page.evaluate(async () => (await fetch("api/trace")).json() as Promise<unknown>)) as { steps: { index: number; start_ns: number; duration_ns: number }[] };
  const [first, step] = steps;
  assert(first && step);
  const isThere = async (expected: { start_ns: number; duration_ns: number }): Promise<void> => {
    await page.waitForFunction(
      ({ start_ns, duration_ns }) => {
        const { dataset } = document.querySelector("canvas.timeline-canvas") as HTMLElement;
        const [start, end] = [Number(dataset["start"]), Number(dataset["end"])];
        return start <= start_ns && end >= start_ns + duration_ns && end - start < 1.2 * duration_ns;
      },
      expected,
    );
  };
  await page.evaluate((index) => (location.hash += `&steps=${String(index)}`), step.index);
  await isThere(step);
  await page.keyboard.press("Home");
  await page.evaluate((index) => (location.hash = `#view=overview&steps=${String(index)}`), first.index);
  await page.locator("h1").waitFor();
  await page.keyboard.press("2");
  await isThere(first);
  const other = await openPage(server, `view=timeline&steps=${String(step.index)}`);
  await drawnTimeline(other);
  const { start, end } = await seen(other.locator("canvas.timeline-canvas"));
  assert(start <= step.start_ns && end - start < 1.2 * step.duration_ns);
  assert(await canvas.isVisible());
});

test("an idle time says why it is and how long, and leads to what the host did meanwhile", async () => {
  const { page } = await openTimeline();
  const row = await idleRow(page);
  for (let x = 40; x < row.width; x += 25) {
    await page.mouse.click(row.x + x, row.y + 12);
    await page.waitForTimeout(60);
    if ((await page.locator(".gap-panel .event-link").count()) > 0) break;
  }
  const panel = page.locator(".gap-panel");
  await panel.getByText("Starts at").waitFor();
  assert.match(await panel.innerText(), /idle/);
  assert.match(await panel.innerText(), /\d (ns|µs|ms)/);
  const link = panel.locator(".event-link");
  const event = await link.getAttribute("data-event");
  await link.click();
  await page.locator(`.event-panel[data-event="${String(event)}"]`).waitFor();
  assert.equal(await panel.count(), 0);
});

test("a track is dragged by its name to another place", async () => {
  const { page } = await openTimeline();
  const names = (): Promise<string[]> => page.locator(".track-header:not(.process) .word").allInnerTexts();
  const byPlace = async (): Promise<string[]> => {
    const all = await page.locator(".track-header:not(.process)").evaluateAll((nodes) =>
      nodes.map((node) => ({ y: node.getBoundingClientRect().top, name: node.querySelector(".word")?.textContent ?? "" })));
    return all.sort((one, other) => one.y - other.y).map(({ name }) => name);
  };
  const before = await byPlace();
  const threads = before.filter((name) => name.startsWith("thread"));
  assert.equal(threads.length, 2, (await names()).join());
  const [upper = "", lower = ""] = threads;
  const at = async (name: string): Promise<{ x: number; y: number }> => {
    const box = await page.locator(".track-header .name", { hasText: name }).boundingBox();
    assert(box);
    return box;
  };
  const from = await at(lower);
  const to = await at(upper);
  await page.mouse.move(from.x + 40, from.y + 8);
  await page.mouse.down();
  await page.mouse.move(from.x + 40, from.y - 30, { steps: 4 });
  await page.mouse.move(to.x + 40, to.y + 2, { steps: 4 });
  await page.locator(".drop-line:not([hidden])").waitFor();
  await page.mouse.up();
  await page.waitForFunction(() => location.hash.includes("order="));
  const after = (await byPlace()).filter((name) => name.startsWith("thread"));
  assert.deepEqual(after, [lower, upper]);
  await page.reload();
  await drawnTimeline(page);
  assert.deepEqual((await byPlace()).filter((name) => name.startsWith("thread")), [lower, upper]);
});

test("a step on the ruler says what of it the host takes, and what the GPU", async () => {
  const said = answer("analyze", CHAIN) as { steps: { index: number; duration_ns: number; device_busy_ns: number }[] };
  const [step] = said.steps;
  assert(step && step.device_busy_ns > step.duration_ns);
  const chain = await Server.start(CHAIN);
  after(() => chain.end());
  const page = await openPage(chain, "view=timeline");
  await drawnTimeline(page);
  await page.locator(".start-panel").getByText("Findings").waitFor();
  const box = await page.locator("canvas.timeline-canvas").boundingBox();
  assert(box);
  await page.mouse.move(box.x + 40, box.y + 28);
  const tip = page.locator(".timeline .tooltip");
  await tip.getByText(`Step ${String(step.index)}`, { exact: true }).waitFor();
  assert((await tip.innerText()).includes(`${formatTime(step.device_busy_ns)} of work on the GPU, ${formatTime(step.duration_ns)} on the host`), await tip.innerText());
});
