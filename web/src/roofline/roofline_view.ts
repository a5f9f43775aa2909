/** How far each kernel is from what the device can do, by what limits it: its memory or its processor. */
import { ask, isGivenUp } from "../api";
import { colorStyle } from "../colors";
import { csvExport, csvText } from "../csv";
import { element, replace } from "../element";
import { formatPercent, formatTime } from "../format";
import { emptyNote, errorNote, loadingNote } from "../messages";
import { pictureExports } from "../picture";
import type { Roofline, TraceShape } from "../protocol";
import { adviceFor } from "../recorded";
import { place } from "../state";
import { nameParts } from "../table/name_parts";
import { showOnTimeline } from "../to_timeline";
import type { Page, Shown, View } from "../view";
import { isHollow } from "./log_scales";
import { type Kernel, RooflinePlot } from "./roofline_plot";

const KEPT_END = 14; // letters of a name that is too long

function show(room: HTMLElement, firstPage: Page): Shown {
  let page = firstPage;
  const note = element("div", { class: "roofline-view" }, loadingNote());
  const list = element("tbody");
  const caption = element("p", { class: "caption" });
  const follow = (kernel: Kernel): void => void showOnTimeline(page, kernel.example, kernel.full_name);
  const plot = new RooflinePlot({ pointed: (kernel) => mark(kernel), chosen: follow });
  let asked = new AbortController();
  let shown: readonly Kernel[] = [];

  const mark = (kernel: number | null): void => {
    plot.mark(kernel);
    [...list.rows].forEach((row, at) => row.classList.toggle("marked", at === kernel));
  };
  const row = (kernel: Kernel, at: number): HTMLElement =>
    element(
      "tr",
      { on: { pointerenter: () => mark(at), pointerleave: () => mark(null) } },
      element(
        "th",
        { scope: "row", title: kernel.full_name },
        element("span", { class: "key", style: colorStyle(kernel.color) }),
        element("button", { class: "link name", on: { click: () => follow(kernel), focus: () => mark(at), blur: () => mark(null) } }, ...nameParts(kernel.name, KEPT_END)),
      ),
      element("td", { class: "n" }, formatTime(kernel.device_ns)),
      element("td", { class: "n" }, kernel.roofline_percent === null ? "" : formatPercent(kernel.roofline_percent)),
    );
  const head = ["Kernel", "a step", "of roofline"].map((title, at) => element("th", { scope: "col", class: at > 0 ? "n" : "" }, title));
  const table = element("div", { class: "roofline-list" }, element("table", { class: "short-table" }, element("thead", {}, element("tr", {}, ...head)), list), caption);

  const load = async (): Promise<void> => {
    asked.abort();
    asked = new AbortController();
    try {
      const roofline = await ask<Roofline>("api/roofline", { steps: place()["steps"] }, asked.signal);
      if (roofline.kernels.length === 0) {
        replace(note, nothing(page.shape));
        return;
      }
      replace(note, plot.node, table);
      replace(list, ...roofline.kernels.map(row));
      caption.textContent = captionOf(roofline);
      plot.show(roofline);
      shown = roofline.kernels;
    } catch (error) {
      if (!isGivenUp(error)) replace(note, errorNote(error));
    }
  };
  room.append(note);
  void load();
  return {
    placeChanged(now, before) {
      if (now["steps"] !== before["steps"]) void load();
    },
    exports: () => (plot.node.isConnected ? [...pictureExports(plot.drawing, "roofline"), csvExport("Table as CSV", "roofline", () => rooflineCsv(shown))] : []),
    pageChanged(next) {
      page = next;
      void load();
    },
    close() {
      asked.abort();
      plot.close();
    },
  };
}

function nothing(shape: TraceShape): HTMLElement {
  const advice = {
    torch: "Record on a GPU with record_shapes=True: operations and bytes follow from the shapes of operators.",
    ours: "Operations and bytes follow from the shapes of PyTorch's operators: use telltale record on a machine with a GPU.",
  };
  return emptyNote("No kernel's work is known, so there is nothing to compare with what the device can do.", adviceFor(shape, advice));
}

function captionOf({ device, bytes_per_second, peaks, kernels, left_out_ns }: Roofline): string {
  return [
    bytes_per_second === null || peaks.length === 0 ? `What ${device === "" ? "the device" : device} can do at most is not known, so that no roof is drawn.` : "",
    kernels.some((kernel) => isHollow(kernel, bytes_per_second)) ? "Hollow dots: the bytes are known, the operations are not. How far such a dot stands below the memory's line is measured; where along it is not." : "",
    kernels.some((kernel) => kernel.flops_per_second === null && !isHollow(kernel, bytes_per_second))
      ? `Kernels without a dot: only their bytes are known, and ${bytes_per_second === null ? "the speed of the memory is not" : "they move them a thousand times more slowly than the memory could"}.`
      : "",
    left_out_ns > 0 ? `Not shown: ${formatTime(left_out_ns)} a step in kernels whose operators tell no shapes, or whose bytes do not follow from them.` : "",
  ].join(" ").trim();
}

function rooflineCsv(kernels: readonly Kernel[]): string {
  return csvText(
    ["name", "class", "precision", "device_ns", "calls", "flops_per_second", "bytes_per_second", "flops_per_byte", "roofline_percent"],
    kernels.map((kernel) => [
      kernel.full_name, kernel.work, kernel.precision, kernel.device_ns, kernel.calls, kernel.flops_per_second, kernel.bytes_per_second, kernel.flops_per_byte, kernel.roofline_percent,
    ]),
  );
}

export const roofline: View = { id: "roofline", title: "Roofline", key: "9", keys: [{ keys: "Tab, Enter", does: "walk through the kernels, and show one on the timeline" }], fills: true, show };
