/** A canvas that is as large as its room in device pixels, and painted only when something changed. */
import { onTheme } from "../theme";

export interface Surface {
  readonly canvas: HTMLCanvasElement;
  invalidate(): void;
  close(): void;
}

export interface SurfaceOptions {
  paint: (context: CanvasRenderingContext2D, width: number, height: number, ratio: number) => void; // in CSS pixels
  themeChanged: () => void;
}

export function surface(canvas: HTMLCanvasElement, options: SurfaceOptions): Surface {
  const context = canvas.getContext("2d", { alpha: false });
  let asked = 0;
  let frames = 0;
  let size = { width: 0, height: 0 };
  const paint = (): void => {
    asked = 0;
    if (!context || size.width === 0 || size.height === 0) return;
    const ratio = window.devicePixelRatio;
    const width = Math.round(size.width * ratio);
    const height = Math.round(size.height * ratio);
    if (canvas.width !== width) canvas.width = width;
    if (canvas.height !== height) canvas.height = height;
    options.paint(context, size.width, size.height, ratio);
    canvas.dataset["frames"] = String(++frames);
  };
  const invalidate = (): void => {
    if (asked === 0) asked = requestAnimationFrame(paint);
  };
  const observer = new ResizeObserver(() => {
    const box = canvas.getBoundingClientRect();
    size = { width: Math.round(box.width), height: Math.round(box.height) };
    invalidate();
  });
  observer.observe(canvas);
  const endTheme = onTheme(() => {
    options.themeChanged();
    invalidate();
  });
  return {
    canvas,
    invalidate,
    close() {
      observer.disconnect();
      endTheme();
      cancelAnimationFrame(asked);
    },
  };
}
