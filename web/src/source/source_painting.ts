/** Lines of source with their time, as a file: those on the screen and some around them. */
import { formatNumber, formatTime } from "../format";
import { type Easel, type Painting, fitIn } from "../painted_picture";
import type { SourceText } from "../protocol";

type Line = SourceText["lines"][number];

export interface SourceLook {
  ground: string;
  ink: string;
  soft: string;
  bar: string;
  text: string; // families of fonts
  code: string;
}

export interface SourcePicture {
  file: string;
  lines: readonly Line[]; // what is shown of them
  width: number;
  hasGpu: boolean;
  largest: { host: number; device: number };
  look: SourceLook;
}

const ROW = 22; // CSS pixels, likewise below
const HEAD = 56;
const NUMBER_WIDTH = 60;
const TIME_WIDTH = 110;
const CALLS_WIDTH = 70;

export function sourcePainting(picture: SourcePicture): Painting {
  const { lines, width, look } = picture;
  const height = HEAD + ROW * lines.length + ROW / 2;
  const paint = (easel: Easel): void => {
    const { context, ratio } = easel;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.fillStyle = look.ground;
    context.fillRect(0, 0, width, height);
    context.textBaseline = "middle";
    const columns = columnsOf(picture);
    write(easel, picture.file, 16, 18, `600 14px ${look.text}`, look.ink, "left");
    for (const { title, right } of columns) write(easel, title, right, HEAD - 14, `12px ${look.text}`, look.soft, "right");
    const fit = fitIn(`12px ${look.code}`);
    const codeEnd = width - 16 - CALLS_WIDTH - TIME_WIDTH * (picture.hasGpu ? 2 : 1) - 16;
    lines.forEach((line, at) => {
      const y = HEAD + ROW * at;
      write(easel, String(line.line), NUMBER_WIDTH, y + ROW / 2, `12px ${look.code}`, look.soft, "right");
      const code = (line.text ?? "").replaceAll("\t", "    ");
      write(easel, fit.fit(code, codeEnd - NUMBER_WIDTH - 16), NUMBER_WIDTH + 16, y + ROW / 2, `12px ${look.code}`, look.ink, "left");
      for (const { right, text, share } of columns) {
        const bar = share(line) * (TIME_WIDTH - 12);
        context.fillStyle = look.bar;
        if (bar > 0) context.fillRect(right + 4 - bar, y + 2, bar, ROW - 4);
        write(easel, text(line), right, y + ROW / 2, `12px ${look.text}`, look.ink, "right");
      }
    });
  };
  return { width, height, paint };
}

interface PaintedColumn {
  title: string;
  right: number; // where it ends
  text: (line: Line) => string;
  share: (line: Line) => number;
}

function columnsOf({ width, hasGpu, largest }: SourcePicture): PaintedColumn[] {
  const calls = width - 16;
  const host = calls - CALLS_WIDTH;
  const time = (ns: number): string => (ns > 0 ? formatTime(ns) : "");
  return [
    ...(hasGpu ? [{ title: "GPU", right: host - TIME_WIDTH, text: (line: Line) => time(line.device_ns), share: (line: Line) => line.device_ns / largest.device }] : []),
    { title: "Host", right: host, text: (line) => time(line.host_ns), share: (line) => line.host_ns / largest.host },
    { title: "Calls", right: calls, text: (line) => (line.calls > 0 ? formatNumber(line.calls) : ""), share: () => 0 },
  ];
}

function write({ context }: Easel, text: string, x: number, y: number, font: string, color: string, align: CanvasTextAlign): void {
  if (text === "") return;
  context.font = font;
  context.fillStyle = color;
  context.textAlign = align;
  context.fillText(text, x, y);
}
