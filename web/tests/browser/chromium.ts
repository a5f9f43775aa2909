/** Chromium, and pages in it that nothing may go wrong in. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { after, afterEach, before } from "node:test";
import { type Browser, type BrowserContext, type BrowserContextOptions, type Page, chromium } from "playwright-core";
import { PATIENCE_MS, type Server } from "./command.js";

const QUIET = "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync --force-color-profile=srgb";
const SCREENSHOTS = process.env["SCREENSHOTS"] ?? "";

function installed(): string {
  const named = process.env["CHROMIUM"] ?? "";
  if (named !== "") return named;
  for (const name of ["chromium", "chromium-browser", "google-chrome"]) {
    try {
      return execFileSync("/bin/sh", ["-c", `command -v ${name}`], { encoding: "utf8" }).trim();
    } catch {
      // perhaps under the next name
    }
  }
  throw new Error("There is no Chromium here, so that the page cannot be tested: tools/setup test installs it, or CHROMIUM says where it is.");
}

let browser: Browser;
const contexts: BrowserContext[] = [];
const troubles: string[] = [];

/** Starts Chromium before the tests of a file, and looks after each test whether a page has complained. */
export function withChromium(): void {
  before(async () => {
    browser = await chromium.launch({ executablePath: installed(), args: QUIET.split(" "), timeout: PATIENCE_MS });
  });
  afterEach(async () => {
    const seen = troubles.splice(0);
    await closePages();
    assert.deepEqual(seen, []);
  });
  after(async () => {
    await browser.close();
  });
}

/** Before a server ends that a test started: its pages may still ask it something. */
export async function closePages(): Promise<void> {
  await Promise.all(contexts.splice(0).map((context) => context.close()));
}

/** What a page may complain about after all: a server that was killed cannot answer. */
export function forgive(pattern: RegExp): void {
  troubles.splice(0, troubles.length, ...troubles.filter((trouble) => !pattern.test(trouble)));
}

/** A page of a browser that has nothing open yet. No console message, no error, nothing from elsewhere is allowed. */
export async function newPage(options: BrowserContextOptions = {}): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  contexts.push(context);
  context.setDefaultTimeout(PATIENCE_MS);
  context.on("weberror", (error) => troubles.push(`error: ${error.error().message}`));
  context.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") troubles.push(`${message.type()}: ${message.text()} at ${message.location().url}`);
  });
  await context.addInitScript(() => {
    document.addEventListener("securitypolicyviolation", (event) => {
      console.error(`policy: ${event.violatedDirective} ${event.blockedURI}`);
    });
  });
  return context.newPage();
}

/** The page of a server, at a place ("view=timeline") of it. */
export async function openPage(server: Server, place = "", options: BrowserContextOptions = {}): Promise<Page> {
  return show(await newPage(options), server, place);
}

/** The page of another server in another tab of the same browser. */
export async function openTab(beside: Page, server: Server): Promise<Page> {
  return show(await beside.context().newPage(), server, "");
}

async function show(page: Page, server: Server, place: string): Promise<Page> {
  page.on("request", (request) => {
    const { origin, protocol } = new URL(request.url());
    if (origin !== server.origin && protocol !== "data:" && protocol !== "blob:") troubles.push(`a request to ${request.url()}`);
  });
  await page.goto(place === "" ? server.address : `${server.address}#${place}`);
  return page;
}

/** Everything that the timeline shows has come. */
export async function drawnTimeline(page: Page): Promise<void> {
  await page.locator("canvas.timeline-canvas[data-pending='0']").waitFor();
}

export async function keepPicture(page: Page, name: string): Promise<void> {
  if (SCREENSHOTS === "") return;
  mkdirSync(SCREENSHOTS, { recursive: true });
  await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`) });
}

/** Names that screen readers say of what can be pressed or filled in; empty ones are missing. */
export async function namelessControls(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const nameOf = (node: Element): string => {
      const input = node as HTMLInputElement;
      const labels = Array.from(input.labels ?? []).map((label) => label.textContent);
      return [node.getAttribute("aria-label") ?? "", node.textContent, node.getAttribute("title") ?? "", ...labels].join("").trim();
    };
    const controls = document.querySelectorAll("button, a[href], input, select, textarea, canvas[tabindex], summary, [role=button]");
    return Array.from(controls).filter((node) => nameOf(node) === "").map((node) => node.outerHTML.slice(0, 200));
  });
}
