/** What the page says of traces that cannot be read, that still grow, and of a server that has ended. */
import assert from "node:assert/strict";
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { gunzipSync } from "node:zlib";
import { closePages, forgive, openPage, withChromium } from "./chromium.js";
import { Folder, PATIENCE_MS, SMALL, Server, TELLTALE, firstLine } from "./command.js";

const RECORDER = process.env["LIVE_RECORDER"] ?? "../build/bin/telltale_live_recorder";

withChromium();
const folder = new Folder();
after(() => {
  folder.remove();
});

test("what is no trace is refused at once, in a sentence", () => {
  const done = spawnSync(TELLTALE, ["view", folder.file("notes.json", "This is no trace."), "--no-browser"], { encoding: "utf8", timeout: PATIENCE_MS });
  assert.equal(done.status, 2);
  assert.match(done.stderr, /notes\.json: is in no format that Telltale knows/);
});

test("of a broken trace one sees what can be read, and that there was more", async () => {
  const whole = gunzipSync(readFileSync(SMALL));
  const server = await Server.start(folder.file("broken.json", whole.toString("utf8", 0, Math.floor(0.7 * whole.length))));
  try {
    const page = await openPage(server);
    await page.locator("main").getByText("the file is cut off").first().waitFor({ state: "attached" });
    assert(!(await page.content()).includes(folder.path), "the folder is named nowhere");
  } finally {
    await closePages();
    await server.end();
  }
});

test("a trace without events says what to record", async () => {
  const server = await Server.start(folder.file("empty.json", '{"traceEvents": []}'));
  try {
    const page = await openPage(server, "view=timeline");
    await page.locator("main").getByText(/Record|no events/).first().waitFor();
  } finally {
    await closePages();
    await server.end();
  }
});

test("a recording is seen while it grows, and that it has ended", async () => {
  const path = join(folder.path, "live.tell");
  const recorder: ChildProcess = spawn(RECORDER, [path], { stdio: ["pipe", "pipe", "inherit"] });
  assert(recorder.stdin);
  recorder.stdin.write("10\n");
  assert.equal(await firstLine(recorder), "recorded");
  const server = await Server.start(path, "--follow");
  try {
    const page = await openPage(server, "view=timeline&q=work");
    await page.locator(".live").getByText("Live").waitFor();
    await page.locator(".search-count").getByText("10 events").waitFor();
    await page.keyboard.press("Home");
    await page.getByRole("button", { name: "Next match" }).click();
    await page.locator(".search-count").getByText("1 of 10").waitFor();
    await page.keyboard.press("Home");
    recorder.stdin.write("32\n");
    await page.waitForFunction(async () => ((await (await fetch("api/search?q=work")).json()) as { count: number }).count === 42);
    await page.locator(".search-count").getByText("1 of 42").waitFor();
    const whole = await page.evaluate(async () => {
      const { duration_ns } = (await (await fetch("api/trace")).json()) as { duration_ns: number };
      const { dataset } = document.querySelector("canvas.timeline-canvas") as HTMLElement;
      return { start: Number(dataset["start"]), end: Number(dataset["end"]), duration_ns };
    });
    assert(whole.start <= 0 && whole.end >= whole.duration_ns, JSON.stringify(whole));
    recorder.stdin.end("1\n");
    await page.locator(".live").getByText("no longer being written").waitFor();
    await page.reload();
    await page.locator(".search-count").getByText("1 of 43").waitFor();
  } finally {
    recorder.kill();
    await closePages();
    await server.end();
  }
});

test("a server that was killed is missed, and nothing is live then", async () => {
  const server = await Server.start(SMALL, "--follow");
  const page = await openPage(server);
  await page.locator("h1").waitFor();
  await page.locator(".live").getByText(/Live|Followed/).waitFor();
  await server.end("SIGKILL");
  await page.getByText("The server has ended. Start it again with:").waitFor();
  await page.locator("code").getByText("telltale view small_train.json.gz --follow").waitFor();
  await page.locator(".live").waitFor({ state: "hidden" });
  assert(await page.locator("h1").isVisible(), "what was there stays readable");
  forgive(/ERR_CONNECTION_REFUSED|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE/);
});
