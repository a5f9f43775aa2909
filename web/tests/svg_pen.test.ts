import assert from "node:assert/strict";
import { test } from "node:test";
import { SvgPen } from "../src/svg_pen";

const body = (pen: SvgPen): string => pen.file(100, 50, 2).split("\n").slice(2, -2).join("\n");

test("the file has the page's size, and the resolution that was painted in", () => {
  assert.match(new SvgPen().file(100, 50, 2), /^<svg xmlns="http:\/\/www.w3.org\/2000\/svg" width="100" height="50" viewBox="0 0 200 100">/);
});

test("rectangles of one color are one path, in the order in which they were painted", () => {
  const pen = new SvgPen();
  pen.fillStyle = "#111";
  pen.fillRect(0, 0, 2, 3);
  pen.fillRect(5.004, 1, 2, 3);
  pen.fillStyle = "#222";
  pen.globalAlpha = 0.5;
  pen.fillRect(1, 1, 1, 1);
  pen.fillRect(1, 1, 0, 1);
  assert.equal(body(pen), '<path fill="#111" d="M0,0h2v3h-2ZM5,1h2v3h-2Z"/>\n<path fill="#222" fill-opacity="0.5" d="M1,1h1v1h-1Z"/>');
});

test("what is scaled and moved is written where it is", () => {
  const pen = new SvgPen();
  pen.setTransform(2, 0, 0, 2, 10, 20);
  pen.strokeStyle = "red";
  pen.lineWidth = 3;
  pen.strokeRect(1, 2, 3, 4);
  assert.equal(body(pen), '<path fill="none" stroke="red" stroke-width="6" d="M12,24h6v8h-6Z"/>');
});

test("a clip holds until what was saved is restored, with the colors of then", () => {
  const pen = new SvgPen();
  pen.fillStyle = "#111";
  pen.save();
  pen.beginPath();
  pen.rect(0, 0, 9, 9);
  pen.clip();
  pen.fillStyle = "#222";
  pen.fillRect(1, 1, 1, 1);
  pen.restore();
  pen.fillRect(2, 2, 1, 1);
  assert.equal(body(pen), '<g clip-path="url(#c0)">\n<path fill="#222" d="M1,1h1v1h-1Z"/>\n</g>\n<path fill="#111" d="M2,2h1v1h-1Z"/>');
  assert.match(pen.file(1, 1, 1), /<clipPath id="c0"><path d="M0,0h9v9h-9Z"\/><\/clipPath>/);
});

test("names are text whatever they hold, and stand where a canvas would write them", () => {
  const pen = new SvgPen();
  pen.font = '600 20px "A & B", sans-serif';
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  pen.fillText('<script>&"\u0000\ud800', 5, 10);
  assert.equal(
    body(pen),
    '<text x="5" y="17" font-family="&quot;A &amp; B&quot;, sans-serif" font-size="20" font-weight="600" text-anchor="middle" fill="#000" xml:space="preserve">&lt;script&gt;&amp;&quot;\ufffd\ufffd</text>',
  );
});

test("curves and rounded corners are paths", () => {
  const pen = new SvgPen();
  pen.beginPath();
  pen.moveTo(0, 0);
  pen.bezierCurveTo(1, 2, 3, 4, 5, 6);
  pen.stroke();
  pen.beginPath();
  pen.roundRect(0, 0, 10, 6, 2);
  pen.fill();
  const [curve = "", corners = ""] = body(pen).split("\n");
  assert.match(curve, /d="M0,0C1,2 3,4 5,6"/);
  assert.match(corners, /d="M0,2a2,2,0,0,1,2,-2h6a2,2,0,0,1,2,2v2a2,2,0,0,1,-2,2h-6a2,2,0,0,1,-2,-2Z"/);
});
