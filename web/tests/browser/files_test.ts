/** Pictures that are saved: the same drawing as SVG and as PNG, with names as text. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import { drawnTimeline, openPage, withChromium } from "./chromium.js";
import { CHAIN, Folder, Server } from "./command.js";

withChromium();
const folder = new Folder();
let server: Server;
before(async () => {
  server = await Server.start(CHAIN, "--source", folder.path);
});
after(async () => {
  await server.end();
  folder.remove();
});

async function saved(page: Page, label: string): Promise<Buffer> {
  const menu = page.locator("details.save");
  if ((await menu.getAttribute("open")) === null) await menu.locator("summary").click();
  const coming = page.waitForEvent("download");
  await menu.getByRole("button", { name: label }).click();
  const parts: Buffer[] = [];
  for await (const part of await (await coming).createReadStream()) parts.push(part as Buffer);
  return Buffer.concat(parts);
}

interface Drawn {
  problem: string | null;
  texts: string[];
  paths: number;
  colors: number; // in the file as it is shown
}

/** What a browser makes of the file. */
async function drawn(page: Page, file: Buffer): Promise<Drawn> {
  return page.evaluate(async (source) => {
    const parsed = new DOMParser().parseFromString(source, "image/svg+xml");
    const problem = parsed.querySelector("parsererror")?.textContent ?? null;
    const image = new Image();
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(source)}`;
    await image.decode();
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [image.width, image.height];
    const context = canvas.getContext("2d");
    context?.drawImage(image, 0, 0);
    const pixels = new Uint32Array(context?.getImageData(0, 0, canvas.width, canvas.height).data.buffer ?? new ArrayBuffer(0));
    return { problem, texts: Array.from(parsed.querySelectorAll("text")).map((text) => text.textContent), paths: parsed.querySelectorAll("path").length, colors: new Set(pixels).size };
  }, file.toString("utf8"));
}

for (const view of ["timeline", "flame", "source"]) {
  test(`the picture of ${view} is saved as SVG and PNG`, async () => {
    const page = await openPage(server, `view=${view}`);
    if (view === "timeline") await drawnTimeline(page);
    else if (view === "flame") await page.locator("canvas.flame-canvas[data-nodes]").waitFor();
    else await page.locator("table.rows tbody th").first().waitFor();
    const picture = await drawn(page, await saved(page, "Picture as SVG"));
    assert.equal(picture.problem, null);
    assert(picture.paths > 3, `${String(picture.paths)} paths`);
    assert(picture.colors > 10, `${String(picture.colors)} colors`);
    const expected = { timeline: "stream 7", flame: "fault_suite.py", source: "fault_suite.py" }[view] ?? "";
    assert(picture.texts.some((text) => text.includes(expected)), picture.texts.join(", "));
    const png = await saved(page, "Picture as PNG");
    assert.deepEqual([...png.subarray(0, 8)], [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
    assert(png.readUInt32BE(16) > 1000 && png.length > 5000, "it is not empty");
  });
}

test("the overview names the command that writes it as one file", async () => {
  const page = await openPage(server);
  await page.locator("h1").waitFor();
  await page.locator("details.save summary").click();
  await page.locator(".menu code").getByText("telltale analyze elementwise_chain.json.gz --html report.html").waitFor();
});
