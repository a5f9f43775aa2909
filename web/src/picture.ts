/** A drawing on the page as files: SVG with the look it has now, and PNG made of that. */
import { element } from "./element";
import { themeColor } from "./colors";
import type { Export } from "./view";

const LOOKS = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "opacity", "font-family", "font-size", "font-weight", "text-anchor", "visibility"];
const PNG_SCALE = 2;

export function pictureExports(drawing: SVGSVGElement, name: string, what = "Picture"): Export[] {
  return [
    { label: `${what} as SVG`, name: `${name}.svg`, content: () => new Blob([svgText(drawing)], { type: "image/svg+xml" }) },
    { label: `${what} as PNG`, name: `${name}.png`, content: () => pngOf(drawing) },
  ];
}

/** A copy that needs no style sheet. */
function svgText(drawing: SVGSVGElement): string {
  const { width, height } = drawing.getBoundingClientRect();
  const copy = drawing.cloneNode(true) as SVGSVGElement;
  const originals = drawing.querySelectorAll<SVGElement>("*");
  copy.querySelectorAll<SVGElement>("*").forEach((node, at) => {
    const original = originals[at];
    if (original === undefined) return;
    const style = getComputedStyle(original);
    for (const look of LOOKS) node.setAttribute(look, style.getPropertyValue(look));
    node.removeAttribute("class");
  });
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("width", String(width));
  copy.setAttribute("height", String(height));
  const ground = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  ground.setAttribute("width", "100%");
  ground.setAttribute("height", "100%");
  ground.setAttribute("fill", themeColor("--ground"));
  copy.prepend(ground);
  return new XMLSerializer().serializeToString(copy);
}

async function pngOf(drawing: SVGSVGElement): Promise<Blob> {
  const { width, height } = drawing.getBoundingClientRect();
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svgText(drawing))}`;
  await image.decode();
  const canvas = element("canvas", { width: Math.round(width * PNG_SCALE), height: Math.round(height * PNG_SCALE) });
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) => {
      if (blob === null) reject(new Error("The browser could not make a picture of this size. Make the window smaller, or save it as SVG."));
      else resolve(blob);
    });
  });
}
