// Opens a trace with `telltale view` in Chromium and measures what a user waits for. Prints one line of JSON.
//
//   node measure.mjs TELLTALE TRACE SECONDS CHROMIUM [timeline]
//
// With "timeline", nobody waits for the diagnosis, and no other view is asked for.
import { spawn } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";

const { chromium } = createRequire(new URL("../../web/package.json", import.meta.url))("playwright-core");
const [program, trace, seconds, executablePath, only] = process.argv.slice(2);
const PATIENCE_MS = 600_000;
const VIEWS = ["overview", "timeline", "operators", "kernels", "modules", "lines", "flame", "memory", "roofline"];
const SHORT_MS = 0.3; // tasks that paint nothing
const CANVAS = "canvas.timeline-canvas";

const quantile = (values, share) => [...values].sort((one, other) => one - other)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? null;
const statusBytes = (pid, field) => 1024 * Number(new RegExp(`${field}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0);
const residentBytes = (pid) => statusBytes(pid, "VmRSS");

/** Of /proc/PID/stat, behind the name: the parent is the second, the processor's time the 12th and 13th, in hundredths of a second. */
function stat(pid) {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1).split(" ");
    return { parent: Number(fields[1]), seconds: (Number(fields[11]) + Number(fields[12])) / 100 };
  } catch {
    return { parent: 0, seconds: 0 }; // it has ended
  }
}

/** What the server and the browser have taken of the processors so far. */
function processorSeconds(server) {
  const processes = new Map(readdirSync("/proc").filter((name) => /^\d+$/.test(name)).map((name) => [Number(name), stat(name)]));
  const isOurs = (pid) => pid === process.pid || (processes.has(pid) && isOurs(processes.get(pid).parent));
  let browser = 0;
  for (const [pid, { parent, seconds }] of processes) {
    if (pid !== server && isOurs(parent)) browser += seconds;
  }
  return { server: stat(server).seconds, browser };
}

/** In the page: notes when the first tile of the timeline is on the screen. */
function noteFirstTile() {
  const observer = new PerformanceObserver((entries) => {
    if (!entries.getEntries().some(({ name }) => name.includes("api/tiles?"))) return;
    observer.disconnect();
    requestAnimationFrame(() => requestAnimationFrame((now) => { window.first_tile_ms = performance.timeOrigin + now; }));
  });
  observer.observe({ type: "resource", buffered: true });
}

async function firstLine(stream) {
  for await (const line of createInterface({ input: stream })) return line;
  throw new Error("telltale view printed nothing");
}

/** While keys move and zoom: the time between frames, what the page's own script takes of each, and the processor time of all that its thread does. */
async function frames(browser, page) {
  await page.locator(CANVAS).focus();
  await browser.startTracing(page, { categories: ["devtools.timeline", "toplevel"] });
  await page.evaluate(() => {
    window.frames_ms = [];
    let last = performance.now();
    const frame = (now) => {
      window.frames_ms.push(now - last);
      last = now;
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  });
  const end = Date.now() + 1000 * Number(seconds);
  for (let turn = 0; Date.now() < end; ++turn) {
    const key = ["w", "d", "w", "a", "s", "d", "s", "a"][turn % 8];
    await page.keyboard.down(key);
    await page.waitForTimeout(600);
    await page.keyboard.up(key);
  }
  const between = (await page.evaluate(() => window.frames_ms)).slice(1);
  const events = JSON.parse((await browser.stopTracing()).toString()).traceEvents;
  const scripts = events.filter(({ name, dur }) => name === "FireAnimationFrame" && dur > 0).map(({ dur }) => dur / 1000);
  const { pid, tid } = events.find(({ name }) => name === "FireAnimationFrame") ?? {};
  const tasks = events.filter((event) => event.pid === pid && event.tid === tid && event.name.endsWith("RunTask")).map(({ tdur }) => (tdur ?? 0) / 1000);
  return {
    frames: between.length,
    thread_mean_ms: tasks.reduce((sum, each) => sum + each, 0) / between.length,
    thread_p99_ms: quantile(tasks.filter((each) => each > SHORT_MS), 0.99),
    frame_p50_ms: quantile(between, 0.5),
    frame_p99_ms: quantile(between, 0.99),
    script_p50_ms: quantile(scripts, 0.5),
    script_p99_ms: quantile(scripts, 0.99),
  };
}

/** Bytes that come over the wire until a view is there, where nothing was there before. */
async function bytesOf(session, page, view) {
  let bytes = 0;
  const count = ({ encodedDataLength }) => { bytes += encodedDataLength; };
  await page.evaluate((id) => { location.hash = `#view=${id}`; }, view);
  session.on("Network.loadingFinished", count);
  await page.reload();
  await page.waitForLoadState("networkidle", { timeout: PATIENCE_MS });
  await page.waitForTimeout(1000);
  session.off("Network.loadingFinished", count);
  return bytes;
}

/** Waits for the diagnosis, then asks for one view after the other. */
async function diagnosis(page) {
  await page.evaluate(() => { location.hash = "#view=overview"; });
  await page.locator("h1").waitFor();
  await page.waitForFunction(async () => (await (await fetch("api/state")).json()).has_diagnosis, undefined, { polling: 200 });
  const diagnosed_s = (performance.now() - began) / 1000;
  const diagnosed_resident_bytes = residentBytes(server.pid);
  const session = await page.context().newCDPSession(page);
  await session.send("Network.enable");
  const bytes = {};
  for (const view of VIEWS) bytes[view] = await bytesOf(session, page, view);
  return { diagnosed_s, diagnosed_resident_bytes, asked_resident_bytes: residentBytes(server.pid), bytes };
}

const browser = await chromium.launch({ executablePath, args: "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync".split(" ") });
const page = await browser.newPage({ viewport: { width: 1920, height: 1080 } });
page.setDefaultTimeout(PATIENCE_MS);
await page.addInitScript(noteFirstTile);
const browserBefore = processorSeconds(0).browser;
const began = performance.now();
const server = spawn(program, ["view", trace, "--no-browser"], { stdio: ["ignore", "pipe", "ignore"] });
try {
  const address = await firstLine(server.stdout);
  await page.goto(`${address}#view=timeline`);
  const firstTile = await (await page.waitForFunction(() => window.first_tile_ms, undefined, { polling: "raf" })).jsonValue();
  const pixels_s = (firstTile - performance.timeOrigin - began) / 1000;
  const spent = processorSeconds(server.pid);
  await page.locator(`${CANVAS}[data-pending="0"]`).waitFor();
  const whole_s = (performance.now() - began) / 1000;
  const shape = await page.evaluate(async () => {
    const { events, duration_ns, tracks } = await (await fetch("api/trace")).json();
    return { events, duration_ns, tracks: tracks.slice(0, 20).map(({ id }) => id) };
  });
  const resident_bytes = residentBytes(server.pid);
  // The whole trace in one tile, then a small part of its middle: the longest and the usual way to a tile.
  const tile_ms = await page.evaluate(async ({ duration_ns, tracks }) => {
    const times = [];
    for (const level of [Math.ceil(Math.log2(duration_ns / 1024)), 10]) {
      const tile = Math.floor(duration_ns / 2 / (1024 * 2 ** level));
      const start = performance.now();
      await (await fetch(`api/tiles?level=${level}&tile=${tile}&tracks=${tracks.join(",")}`)).arrayBuffer();
      times.push(performance.now() - start);
    }
    return times;
  }, shape);
  const moving = await frames(browser, page);
  const opened = {
    events: shape.events, pixels_s, whole_s, server_processor_s: spent.server, browser_processor_s: spent.browser - browserBefore,
    tile_ms, resident_bytes, ...moving, browser: browser.version(),
  };
  console.log(JSON.stringify({ ...opened, ...(only === "timeline" ? {} : await diagnosis(page)), peak_bytes: statusBytes(server.pid, "VmHWM") }));
} finally {
  server.kill();
  await browser.close();
}
