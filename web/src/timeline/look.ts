/** The page's inks and the trace's colors as a canvas needs them: resolved for the present theme. */
import { inkOn } from "../colors";
import type { Color } from "../protocol";
import { isDark } from "../theme";

export interface Look {
  ground: string;
  raised: string;
  line: string;
  ink: string;
  soft: string;
  mark: string;
  markPixel: number; // the same, as a pixel of an ImageData
  alarm: string;
  fills: readonly string[]; // by styleOf()
  pixels: Uint32Array; // the same as pixels of an ImageData
  inks: readonly string[]; // likewise: of text on it
  colors: readonly string[]; // as they are
  font: string; // its family
}

/** A span is drawn paler where its events fill little of it, and palest where a search leaves it out. */
const SHADES = [0.4, 0.6, 0.8, 1, 0.18] as const;
const FULL = 3;
const LEFT_OUT = 4;

export function styleOf(color: number, busy: number, isLeftOut: boolean): number {
  if (isLeftOut) return color * SHADES.length + LEFT_OUT;
  const shade = busy >= 0.8 ? FULL : busy >= 0.5 ? 2 : busy >= 0.2 ? 1 : 0;
  return color * SHADES.length + shade;
}

/** Reads the style sheet's inks where `element` stands. */
export function lookAt(element: HTMLElement, colors: readonly Color[]): Look {
  const probe = document.createElement("span");
  element.append(probe);
  const resolved = (name: string): string => {
    probe.style.color = `var(${name})`;
    return getComputedStyle(probe).color;
  };
  const inks = {
    ground: resolved("--ground"),
    raised: resolved("--raised"),
    line: resolved("--line"),
    ink: resolved("--ink"),
    soft: resolved("--soft"),
    mark: resolved("--mark"),
    alarm: resolved("--removed"),
    font: getComputedStyle(element).fontFamily,
  };
  probe.remove();
  const dark = isDark();
  const own = colors.map((color) => (dark ? color.dark : color.light));
  const ground = partsOf(inks.ground);
  const fills = own.flatMap((color) => SHADES.map((share) => mixed(partsOf(color), ground, share)));
  const inksOn = fills.map((fill, i) => (i % SHADES.length === LEFT_OUT ? inks.soft : inkOn(fill)));
  return { ...inks, markPixel: pixelOf(inks.mark), colors: own, fills, pixels: Uint32Array.from(fills, pixelOf), inks: inksOn };
}

function partsOf(color: string): number[] {
  if (color.startsWith("#")) return [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16));
  return (color.match(/[\d.]+/g) ?? ["0", "0", "0"]).slice(0, 3).map(Number);
}

function mixed(color: readonly number[], ground: readonly number[], share: number): string {
  const part = (i: number): string => Math.round((color[i] ?? 0) * share + (ground[i] ?? 0) * (1 - share)).toString(16).padStart(2, "0");
  return `#${part(0)}${part(1)}${part(2)}`;
}

/** Opaque; in the order of bytes that all machines with browsers have. */
function pixelOf(color: string): number {
  const [red = 0, green = 0, blue = 0] = partsOf(color);
  return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
}
