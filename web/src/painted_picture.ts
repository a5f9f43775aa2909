/** What is painted on a canvas, as files: painted once more, as SVG or at the resolution of print as PNG. */
import { element } from "./element";
import type { Pen } from "./pen";
import { SvgPen } from "./svg_pen";

import { TextFit } from "./timeline/text_fit";
import type { Export } from "./view";

/** Something to paint on, `ratio` of its pixels for each of the page's. */
export interface Easel {
  context: Pen;
  pixels: CanvasRenderingContext2D | null; // the same, where pixels can be put
  ratio: number;
}

export interface Painting {
  width: number; // CSS pixels, likewise below
  height: number;
  paint: (easel: Easel) => void;
}

const RATIO = 2;

export function paintedExports(name: string, painting: () => Painting): Export[] {
  return [
    { label: "Picture as SVG", name: `${name}.svg`, content: () => new Blob([svgOf(painting())], { type: "image/svg+xml" }) },
    { label: "Picture as PNG", name: `${name}.png`, content: () => pngOf(painting()) },
  ];
}

function svgOf({ width, height, paint }: Painting): string {
  const pen = new SvgPen();
  paint({ context: pen, pixels: null, ratio: RATIO });
  return pen.file(width, height, RATIO);
}

function pngOf({ width, height, paint }: Painting): Promise<Blob> {
  const canvas = element("canvas", { width: Math.round(width * RATIO), height: Math.round(height * RATIO) });
  const context = canvas.getContext("2d");
  if (context) paint({ context, pixels: context, ratio: RATIO });
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) => {
      if (blob) resolve(blob);
      else reject(new Error("The browser could not make a picture of this size. Make the window smaller, or save it as SVG."));
    }, "image/png");
  });
}

/** Cuts texts in a font, beside all canvases. */
export function fitIn(font: string): TextFit {
  const context = document.createElement("canvas").getContext("2d");
  if (context) context.font = font;
  return new TextFit((text) => context?.measureText(text).width ?? text.length * 7);
}
