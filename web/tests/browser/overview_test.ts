/** The overview: why it is slow and what would help, with the numbers of `telltale analyze --json`. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { formatPercent, formatTime } from "../../src/format.js";
import { closePages, drawnTimeline, openPage, openTab, withChromium } from "./chromium.js";
import { CHAIN, MLP, RESNET, Server, answer, telltale } from "./command.js";

interface Diagnosis {
  step: { mean_ns: number; unobserved_ns: number };
  breakdown: { category: string; ns: number; percent: number }[];
  steps: { index: number }[];
  findings: { title: string; explanation: string; evidence: { event: number }[]; saving: { likely_ns: number; likely_percent: number }; fix: { text: string } }[];
}

withChromium();
let server: Server;
let said: Diagnosis;
before(async () => {
  server = await Server.start(MLP);
  said = answer("analyze", MLP) as Diagnosis;
});
after(() => server.end());

test("the headline and the savings are those of the command", async () => {
  const page = await openPage(server);
  const terminal = telltale("analyze", MLP).replace(/\s+/g, " ");
  const headline = await page.locator("h1").innerText();
  assert(terminal.includes(headline), `${headline} is not in ${terminal}`);
  const titles = await page.locator(".findings h3").allInnerTexts();
  assert.deepEqual(titles, said.findings.map(({ title }) => title));
  const savings = await page.locator(".findings .saving strong").allInnerTexts();
  assert.deepEqual(savings, said.findings.map(({ saving }) => formatPercent(saving.likely_percent)));
  const times = await page.locator(".findings .saving span:first-of-type").allInnerTexts();
  assert.deepEqual(times, said.findings.map(({ saving }) => `saves ${formatTime(saving.likely_ns)} per step`));
});

test("the parts of a step are those of the command", async () => {
  const page = await openPage(server);
  await page.locator("table.parts").first().waitFor();
  const rows = await page.locator("table.parts tr").allInnerTexts();
  const byTime = [...said.breakdown].sort((one, other) => other.ns - one.ns).map(({ ns }) => formatTime(ns));
  const shown = rows.map((row) => row.split("\t")[1]?.trim() ?? "");
  assert.deepEqual([...shown].sort(), [...byTime].sort());
});

test("a finding unfolds and leads to its evidence", async () => {
  const page = await openPage(server);
  const second = page.locator(".findings > li").nth(1);
  const finding = said.findings[1];
  assert(finding);
  await second.locator("summary h3").click();
  await second.getByText(finding.explanation).waitFor();
  await second.getByText(finding.fix.text).waitFor();
  await second.getByRole("link", { name: "Show on timeline" }).click();
  await drawnTimeline(page);
  const canvas = page.locator("canvas.timeline-canvas");
  await page.waitForFunction(() => document.querySelector<HTMLElement>("canvas.timeline-canvas")?.dataset["selected"] !== "");
  assert.equal(await canvas.getAttribute("data-selected"), String(finding.evidence[0]?.event));
  await page.locator(".evidence-strip").getByText(finding.title).waitFor();
  await page.getByRole("button", { name: "Next evidence" }).click();
  await page.locator(`canvas.timeline-canvas[data-selected="${String(finding.evidence[1]?.event)}"]`).waitFor();
  await page.goBack();
  await page.locator(`canvas.timeline-canvas[data-selected="${String(finding.evidence[0]?.event)}"]`).waitFor();
  await page.goBack();
  await page.locator("h1").waitFor();
});

test("ticked fixes say at once what becomes of the step", async () => {
  const page = await openPage(server);
  const boxes = page.locator(".try input");
  await boxes.first().waitFor();
  const count = await boxes.count();
  assert(count >= 2, "there are two fixes to try");
  await boxes.nth(0).check();
  const line = page.locator(".fixes-line");
  await line.getByText(`With 1 fix: step ${formatTime(said.step.unobserved_ns)} →`).waitFor();
  const one = await line.innerText();
  await boxes.nth(1).check();
  await line.getByText(`With 2 fixes: step ${formatTime(said.step.unobserved_ns)} →`).waitFor();
  assert.notEqual(await line.innerText(), one);
  await page.reload();
  await line.getByText("With 2 fixes").waitFor();
  await page.getByRole("button", { name: "Untick all" }).click();
  await line.waitFor({ state: "hidden" });
});

test("steps that are chosen are those of --steps", async () => {
  const steps = said.steps.map(({ index }) => index);
  const last = steps.at(-1) ?? 0;
  const page = await openPage(server);
  const strip = page.locator("canvas.strip");
  await strip.focus();
  for (let pressed = 0; pressed < steps.length; ++pressed) await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Enter");
  await page.locator(".chip").getByText(`Step ${String(last)}`).waitFor();
  assert(page.url().includes(`steps=${String(last)}`), page.url());
  const chosen = telltale("analyze", MLP, "--steps", String(last)).replace(/\s+/g, " ");
  await page.waitForFunction((said) => said.includes(document.querySelector("h1")?.textContent ?? "nothing yet"), chosen);
  await page.getByRole("button", { name: "Look at all steps again" }).click();
  await page.locator(".chip").waitFor({ state: "detached" });
});

test("the strip of steps is used by the keyboard alone, and keeps it", async () => {
  const [first = 0, second = 0] = said.steps.map(({ index }) => index);
  const page = await openPage(server);
  await page.locator("canvas.strip").focus();
  for (const key of ["ArrowRight", "Enter"]) await page.keyboard.press(key);
  await page.locator(".chip").getByText(`Step ${String(first)}`, { exact: false }).waitFor();
  await page.waitForFunction(() => document.querySelector(".overview .loading") === null && document.activeElement?.className === "strip");
  for (const key of ["Shift+ArrowRight", "Enter"]) await page.keyboard.press(key);
  await page.locator(".chip").getByText(`Steps ${String(first)} to ${String(second)}`).waitFor();
});

test("two traces in two tabs are two pages", async () => {
  const other = await Server.start(RESNET);
  try {
    const page = await openPage(server);
    const second = await openTab(page, other);
    await second.locator(".file").getByText("resnet50_train.json.gz").waitFor();
    await page.locator(".file").getByText("mlp_sync.json.gz").waitFor();
    const [one, two] = [await page.locator("h1").innerText(), await second.locator("h1").innerText()];
    assert.notEqual(one, two);
    await page.reload();
    assert.equal(await page.locator("h1").innerText(), one);
  } finally {
    await closePages();
    await other.end();
  }
});

test("steps that the GPU falls behind in are not said to be as short as the host's", async () => {
  const chain = await Server.start(CHAIN);
  try {
    const page = await openPage(chain);
    await page.getByText("The GPU sets the pace").waitFor();
    await page.locator("canvas.strip").hover({ position: { x: 10, y: 40 } });
    await page.locator(".steps-strip .caption").getByText(/Step 3, 14\.4 ms of work on the GPU, 9\.76 ms on the host/).waitFor();
  } finally {
    await closePages();
    await chain.end();
  }
});

test("a click beside the bars of the strip chooses nothing", async () => {
  const page = await openPage(server);
  const strip = page.locator("canvas.strip");
  await strip.waitFor();
  const width = (await strip.boundingBox())?.width ?? 0;
  const bars = 32 * said.steps.length;
  assert(bars + 20 < width, "there is room beside the bars");
  await strip.click({ position: { x: width - 5, y: 30 } });
  assert.equal(await page.locator(".chip").count(), 0);
  await strip.click({ position: { x: 5, y: 30 } });
  await page.locator(".chip").waitFor();
  await page.locator("details.save summary").click();
  await page.locator(".otherwise code").getByText(/--steps \d+ --html report\.html/).waitFor();
});

test("the back button leads to where one had scrolled", async () => {
  const page = await openPage(server, "", { viewport: { width: 1280, height: 500 } });
  await page.locator("h1").waitFor();
  await page.locator("main").evaluate((node) => { node.scrollTop = 166; });
  await page.keyboard.press("3");
  await page.locator("table.rows tbody th").first().waitFor();
  await page.goBack();
  await page.locator("h1").waitFor();
  await page.waitForFunction(() => document.querySelector("main")?.scrollTop === 166);
  await page.keyboard.press("3");
  await page.locator("nav a", { hasText: "Overview" }).click();
  await page.locator("h1").waitFor();
  assert.equal(await page.locator("main").evaluate((node) => node.scrollTop), 0);
});

test("the code of a fix is not cut", async () => {
  const page = await openPage(server);
  await page.locator(".about pre").first().waitFor();
  for (const code of await page.locator(".about pre").all()) assert(await code.evaluate((node) => node.scrollWidth <= node.clientWidth));
});
