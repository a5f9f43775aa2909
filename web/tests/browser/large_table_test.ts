/** A table of 100,000 rows, from the real server: the rows on the screen are those that belong there, wherever one scrolls. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import { formatTime } from "../../src/format.js";
import { openPage, withChromium } from "./chromium.js";
import { Folder, Server } from "./command.js";

const ROWS = 100_000;

/** Operators of names that nothing else has; the later, the longer. */
function traceOfManyNames(): string {
  const parts: string[] = [];
  let ts = 0;
  for (let i = 0; i < ROWS; ++i) {
    const dur = i + 1;
    parts.push(`{"ph":"X","cat":"cpu_op","name":"op_${String(i)}","pid":1,"tid":1,"ts":${String(ts)},"dur":${String(dur)}}`);
    ts += dur;
  }
  return `{"traceEvents":[${parts.join(",")}]}`;
}

withChromium();
const folder = new Folder();
let server: Server;
before(async () => {
  server = await Server.start(folder.file("many.json", traceOfManyNames()));
});
after(async () => {
  await server.end();
  folder.remove();
});

/** Waits until the rows on the screen have come, and says which they are. */
async function shownRows(page: Page, from: number, to: number): Promise<{ index: number; name: string; text: string }[]> {
  await page.waitForFunction(
    ([first, last]) => {
      const rows = Array.from(document.querySelectorAll("table.rows tbody tr:not(.spacer)"));
      const indexes = rows.map((row) => Number(row.getAttribute("aria-rowindex")) - 2);
      const isThere = indexes.some((index) => index >= (first ?? 0) && index <= (last ?? 0));
      return isThere && rows.every((row) => row.querySelector("th")?.textContent.startsWith("op_") === true);
    },
    [from, to],
  );
  return page.locator("table.rows tbody tr:not(.spacer)").evaluateAll((rows) =>
    rows.map((row) => ({ index: Number(row.getAttribute("aria-rowindex")) - 2, name: row.querySelector("th")?.textContent ?? "", text: row.textContent })),
  );
}

function assertRight(rows: readonly { index: number; name: string; text: string }[]): void {
  assert(rows.length > 10);
  rows.forEach(({ index, name, text }, at) => {
    assert.equal(index, (rows[0]?.index ?? 0) + at, "rows follow each other");
    assert.equal(name.trim(), `op_${String(ROWS - 1 - index)}`);
    assert(text.includes(formatTime(1000 * (ROWS - index))), `${text} has not ${formatTime(1000 * (ROWS - index))}`);
  });
}

test("100,000 rows are right at the top, in the middle and at the end, and found by a filter", async () => {
  const page = await openPage(server, "view=operators");
  await page.locator(".count").getByText("100,000 rows").waitFor();
  assertRight(await shownRows(page, 0, 5));
  const room = page.locator(".row-room");
  await room.evaluate((node) => { node.scrollTop = node.scrollHeight / 2; });
  const middle = await shownRows(page, ROWS / 2 - 100, ROWS / 2 + 100);
  assertRight(middle);
  await room.focus();
  await page.keyboard.press("End");
  const last = await shownRows(page, ROWS - 1, ROWS - 1);
  assertRight(last);
  assert.equal(last.at(-1)?.index, ROWS - 1);
  for (let turn = 0; turn < 12; ++turn) { // farther than what comes with one answer, and back
    await room.evaluate((node, share) => { node.scrollTop = node.scrollHeight * share; }, turn % 2 === 0 ? turn / 12 : 1 - turn / 12);
    await page.waitForTimeout(20);
  }
  await room.evaluate((node) => { node.scrollTop = 26 * 77_777; });
  assertRight(await shownRows(page, 77_777, 77_790));
  await page.getByLabel("Filter", { exact: true }).fill("op_31415");
  await page.locator(".count").getByText("1 of 100,000 rows").waitFor();
});
