/** The layout of every view: nothing jumps while it comes, and texts can be read from 1280×800 to 4K. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import { keepPicture, newPage, openPage, withChromium } from "./chromium.js";
import { CHAIN, Server } from "./command.js";

withChromium();
let server: Server;
before(async () => {
  server = await Server.start(CHAIN);
});
after(async () => {
  await server.end();
});

const VIEWS = ["overview", "timeline", "operators", "kernels", "modules", "lines", "flame", "memory", "roofline", "source"];

/** Waits until nothing of a view is to come. */
async function drawn(page: Page): Promise<void> {
  await page.locator("main > :not(.progress)").first().waitFor();
  await page.waitForLoadState("networkidle");
  await page.locator(".loading").waitFor({ state: "detached" });
}

interface Shift extends PerformanceEntry {
  value: number;
  hadRecentInput: boolean;
  sources: { node: Node | null; previousRect: DOMRectReadOnly; currentRect: DOMRectReadOnly }[];
}

/** In the page, before anything is drawn: notes what moves without having been asked to. */
function noteShifts(): void {
  const shifts: string[] = [];
  Object.assign(window, { shifts });
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries() as Shift[]) {
      for (const { node, previousRect, currentRect } of entry.sources) {
        const what = node instanceof Element ? node.outerHTML.slice(0, 120) : String(node?.textContent);
        shifts.push(`${what} from ${JSON.stringify(previousRect)} to ${JSON.stringify(currentRect)}`);
      }
    }
  }).observe({ type: "layout-shift", buffered: true });
}

for (const view of VIEWS) {
  test(`what one reads stays where it is while the rest of ${view} comes`, async () => {
    const page = await newPage();
    await page.addInitScript(noteShifts);
    await page.goto(`${server.address}#view=${view}`);
    await drawn(page);
    const shifts = await page.evaluate(() => (window as unknown as { shifts: string[] }).shifts);
    assert.deepEqual(shifts, []);
  });
}

/** In the page: texts that are cut off without an ellipsis, that lie on another, or that are no words. */
function faultsOfTexts(): string[] {
  const faults = new Set<string>();
  const isShown = (node: Element, box: DOMRect): boolean =>
    node.checkVisibility({ visibilityProperty: true }) && box.width > 1 && box.height > 1 && box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth;
  const isSticky = (node: Element | null): boolean => node !== null && (["sticky", "fixed"].includes(getComputedStyle(node).position) || isSticky(node.parentElement));
  const texts: { words: string; box: DOMRect; node: Element }[] = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let each = walker.nextNode(); each !== null; each = walker.nextNode()) {
    const node = each.parentElement;
    const words = (each.textContent ?? "").trim();
    if (node === null || words === "" || node.closest("script, style, .unseen") !== null) continue;
    const range = document.createRange();
    range.selectNodeContents(each);
    const box = range.getBoundingClientRect();
    if (!isShown(node, box)) continue;
    if (/\bNaN\b|\bundefined\b|\bInfinity\b|\[object |(^|[^\w.-])-0(\.0+)?([^\d.\w-]|$)/.test(words)) faults.add(`says ${words}`);
    const svg = node.closest("svg");
    const frame = svg?.getBoundingClientRect();
    if (frame !== undefined && (box.left < frame.left - 1 || box.right > frame.right + 1)) faults.add(`cut at the edge of its picture: ${words}`);
    for (let around: Element | null = node; around !== null && svg === null; around = around.parentElement) {
      const { overflowX, textOverflow } = getComputedStyle(around);
      if (overflowX === "visible") continue;
      if (overflowX !== "auto" && textOverflow !== "ellipsis" && around.getBoundingClientRect().width > 1 && box.right > around.getBoundingClientRect().right + 1.5) faults.add(`cut: ${words}`);
      break;
    }
    texts.push({ words, box, node });
  }
  for (const [i, one] of texts.entries()) {
    for (const other of texts.slice(i + 1)) {
      if (one.node.contains(other.node) || other.node.contains(one.node)) continue;
      const width = Math.min(one.box.right, other.box.right) - Math.max(one.box.left, other.box.left);
      const height = Math.min(one.box.bottom, other.box.bottom) - Math.max(one.box.top, other.box.top);
      if (width <= 3 || height <= 4 || isSticky(one.node) || isSticky(other.node)) continue;
      const [x, y] = [Math.max(one.box.left, other.box.left) + width / 2, Math.max(one.box.top, other.box.top) + height / 2];
      const there = document.elementsFromPoint(x, y);
      if (there.includes(one.node) && there.includes(other.node)) faults.add(`lies on another: ${one.words} / ${other.words}`);
    }
  }
  return [...faults];
}

for (const { width, height } of [{ width: 1280, height: 800 }, { width: 3840, height: 2160 }]) {
  for (const colorScheme of ["light", "dark"] as const) {
    test(`no text is cut, overlaps or is no word at ${String(width)} × ${String(height)}, ${colorScheme}`, async () => {
      const page = await openPage(server, "", { viewport: { width, height }, colorScheme });
      for (const view of VIEWS) {
        await page.evaluate((id) => { location.hash = `#view=${id}`; }, view);
        await page.locator(`nav [aria-current=page][href*="view=${view}"]`).waitFor();
        await drawn(page);
        assert.deepEqual(await page.evaluate(faultsOfTexts), [], view);
        assert.equal(await page.evaluate(() => document.documentElement.scrollWidth > innerWidth), false, `${view} is wider than the window`);
        if (width > 2000) await keepPicture(page, `${view}-4k-${colorScheme}`);
      }
    });
  }
}
