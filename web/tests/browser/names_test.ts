/** Names in traces are whatever their author wrote: the page and the report show them as text. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import { newPage, openPage, withChromium } from "./chromium.js";
import { Folder, Server, telltale } from "./command.js";

const EVIL = `</script><img src=x onerror="window.wasRun=1"><b>bold</b>"'\u202e\u001b[2J&lt;`;
const VIEWS = ["overview", "timeline&event=1&q=img", "operators", "kernels", "modules", "lines", "flame", "flame&weight=device", "memory", "roofline", "source"];

function hostileTrace(): string {
  const events: object[] = [{ ph: "M", name: "process_name", pid: 1, args: { name: EVIL } }, { ph: "M", name: "thread_name", pid: 1, tid: 1, args: { name: EVIL } }];
  for (let step = 0; step < 3; ++step) {
    const at = 1000 * step;
    const host = { ph: "X", pid: 1, tid: 1 };
    events.push({ ...host, cat: "user_annotation", name: `ProfilerStep#${String(step)}`, ts: at, dur: 990 });
    events.push({ ...host, cat: "python_function", name: `${EVIL}.py(1): ${EVIL}`, ts: at + 1, dur: 900 });
    events.push({ ...host, cat: "cpu_op", name: EVIL, ts: at + 10, dur: 200, args: { "Input Dims": [[4, 4]], [EVIL]: EVIL } });
    events.push({ ...host, cat: "cuda_runtime", name: "cudaLaunchKernel", ts: at + 50, dur: 9, args: { correlation: step + 1 } });
    events.push({ ph: "X", cat: "kernel", name: EVIL, pid: 0, tid: 7, ts: at + 100, dur: 300, args: { device: 0, stream: 7, correlation: step + 1 } });
  }
  return JSON.stringify({ traceEvents: events, deviceProperties: [{ id: 0, name: EVIL }] });
}

withChromium();
const folder = new Folder();
let trace = "";
let server: Server;
before(async () => {
  trace = folder.file("<img src=x onerror=alert(1)>.json", hostileTrace());
  server = await Server.start(trace);
});
after(async () => {
  await server.end();
  folder.remove();
});

async function assertOnlyText(page: Page, where: string): Promise<void> {
  const found = await page.evaluate(() => ({
    wasRun: "wasRun" in window,
    handlers: document.querySelectorAll("[onerror]").length,
    images: document.images.length,
    bold: Array.from(document.querySelectorAll("b")).filter((node) => node.textContent === "bold").length,
  }));
  assert.deepEqual(found, { wasRun: false, handlers: 0, images: 0, bold: 0 }, where);
}

test("no name in any view is markup", async () => {
  const page = await openPage(server);
  await page.locator("h1").waitFor();
  for (const view of VIEWS) {
    await page.evaluate((place) => { location.hash = `#view=${place}`; }, view);
    await page.waitForLoadState("networkidle");
    await assertOnlyText(page, view);
  }
  await page.evaluate(() => { location.hash = "#view=operators"; });
  await page.locator("table.rows").getByText("<img src=x").first().waitFor();
  assert.equal(await page.locator(".file").innerText(), "<img src=x onerror=alert(1)>.json");
});

test("no name in a saved picture is markup", async () => {
  for (const view of ["timeline", "flame"]) {
    const page = await openPage(server, `view=${view}`);
    await page.locator(view === "timeline" ? "canvas.timeline-canvas[data-pending='0']" : "canvas.flame-canvas[data-nodes]").waitFor();
    await page.locator("details.save summary").click();
    const coming = page.waitForEvent("download");
    await page.getByRole("button", { name: "Picture as SVG" }).click();
    let file = "";
    for await (const part of await (await coming).createReadStream()) file += String(part);
    const found = await page.evaluate((source) => {
      const parsed = new DOMParser().parseFromString(source, "image/svg+xml");
      const kinds = new Set(Array.from(parsed.querySelectorAll("*")).map(({ localName }) => localName));
      return { kinds: [...kinds].sort(), text: Array.from(parsed.querySelectorAll("text")).map((text) => text.textContent).join(" ") };
    }, file);
    const allowed = ["clipPath", "defs", "g", "image", "path", "pattern", "svg", "text"];
    assert.deepEqual(found.kinds.filter((kind) => !allowed.includes(kind)), [], view);
    assert(found.text.includes("</script>") || found.text.includes("<img"), `${view}: ${found.text}`);
  }
});

test("an address that somebody made up breaks nothing", async () => {
  const page = await openPage(server);
  await page.locator("h1").waitFor();
  const places = [
    "view=__proto__", "__proto__=x&view=timeline", "view=timeline&start=NaN&end=1e999", "view=timeline&start=-1e300&end=1e300", "view=timeline&range=5-1:x",
    "view=timeline&pinned=99999999999,0,1&collapsed=__proto__&order=1-1,2-99", `view=timeline&q=${encodeURIComponent(EVIL)}`, "view=source&file=../../etc/passwd",
    "view=overview&fixes=99,-1,x", "view=modules&open=%3Cscript%3E", "%E0%A4%A", "view=memory&at=1e999", "view=flame&node=1e15",
  ];
  for (const place of places) {
    await page.evaluate((hash) => { location.hash = `#${hash}`; }, place);
    await page.waitForLoadState("networkidle");
    assert.equal(await page.locator("nav[aria-label=Views] [aria-current=page]").count(), 1, place);
    await assertOnlyText(page, place);
  }
});

test("no name in a report is markup", async () => {
  const report = `${folder.path}/report.html`;
  telltale("analyze", trace, "--html", report);
  const page = await newPage();
  await page.goto(`file://${report}`);
  await page.locator(".timeline canvas").waitFor();
  await assertOnlyText(page, "report");
  const box = await page.locator(".timeline canvas").boundingBox();
  assert(box);
  await page.locator(".timeline canvas").scrollIntoViewIfNeeded();
  await page.locator(".timeline canvas").hover({ position: { x: box.width / 4, y: 60 } });
  await assertOnlyText(page, "tip");
});
