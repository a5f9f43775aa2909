/**
 * The server's list of colors (kinds, work classes, idle causes), for style sheets and for canvases. In style sheets a
 * color is `var(--color-3)` and the text on it `var(--ink-3)`; both follow the theme by themselves.
 */
import type { Color } from "./protocol";
import { isDark } from "./theme";

const FALLBACK: Color = { word: "", light: "#8a9aab", dark: "#8a9aab" };
let colors: readonly Color[] = [];

export function setColors(list: readonly Color[]): void {
  colors = list;
  const root = document.documentElement.style;
  list.forEach((color, i) => {
    root.setProperty(`--color-${String(i)}`, `light-dark(${color.light}, ${color.dark})`);
    root.setProperty(`--ink-${String(i)}`, `light-dark(${inkOn(color.light)}, ${inkOn(color.dark)})`);
  });
}

/** For a canvas: the color as the theme is now, and the color of text on it. */
export function paint(index: number): { fill: string; ink: string; word: string } {
  const color = colors[index] ?? FALLBACK;
  const fill = isDark() ? color.dark : color.light;
  return { fill, ink: inkOn(fill), word: color.word };
}

/** For a canvas: a ground or an ink of the style sheet ("--soft") as the theme is now. */
export function themeColor(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name);
}

/** For `Properties.style` of an element whose class uses --fill and --on-fill. */
export function colorStyle(index: number): Record<string, string> {
  return { "--fill": `var(--color-${String(index)})`, "--on-fill": `var(--ink-${String(index)})` };
}

/** Dark text on light colors and white on dark ones, by their luminance. */
export function inkOn(color: string): string {
  const part = (at: number): number => Number.parseInt(color.slice(at, at + 2), 16);
  const luminance = 0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5);
  return luminance > 125 ? "#15171a" : "#ffffff";
}
