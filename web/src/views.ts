/** The views of the page, in the order of its navigation. Adding one is adding a file and a line here. */
import { memory } from "./memory/memory_view";
import { modules } from "./modules/modules_view";
import { overview } from "./overview/overview";
import { roofline } from "./roofline/roofline_view";
import { source } from "./source/source_view";
import { kernels, lines, operators } from "./table/tables";
import { timeline } from "./timeline/timeline";
import { flame } from "./flame/flame_view";
import type { View } from "./view";

export const VIEWS: readonly View[] = [
  overview,
  timeline,
  operators,
  kernels,
  modules,
  lines,
  flame,
  memory,
  roofline,
  source,
];
