/** The timeline as a file: what the canvas shows, with the names of its tracks at the left. */
import { type Easel, type Painting, fitIn } from "../painted_picture";
import { SMALL_FONT } from "./frame";
import type { Look } from "./look";
import { Picture } from "./picture";
import { RULER, scrollTop, visibleRows } from "./stage";
import type { TimelineModel } from "./timeline_model";

const NAMES_WIDTH = 180; // CSS pixels

export function timelinePainting(model: TimelineModel, look: Look): Painting {
  const { stage } = model;
  const width = NAMES_WIDTH + stage.width;
  const paint = ({ context, pixels, ratio }: Easel): void => {
    context.fillStyle = look.ground;
    context.fillRect(0, 0, width * ratio, stage.height * ratio);
    context.save();
    context.setTransform(1, 0, 0, 1, NAMES_WIDTH * ratio, 0);
    context.beginPath();
    context.rect(0, 0, stage.width * ratio, stage.height * ratio);
    context.clip();
    new Picture().paint({ context, pixels, ratio, stage, look, fit: fitIn(`${SMALL_FONT * ratio}px ${look.font}`) }, model);
    context.restore();
    paintNames({ context, pixels, ratio }, model, look);
  };
  return { width, height: stage.height, paint };
}

function paintNames({ context, ratio }: Easel, { stage }: TimelineModel, look: Look): void {
  const font = `${(SMALL_FONT + 1) * ratio}px ${look.font}`;
  const fit = fitIn(font);
  context.font = font;
  context.textAlign = "left";
  context.textBaseline = "top";
  for (const { row, y } of visibleRows(stage)) {
    if (y < (row.isPinned ? RULER.height : scrollTop(stage))) continue;
    context.fillStyle = row.track ? look.ink : look.soft;
    context.fillText(fit.fit(row.track?.name ?? row.process.name, (NAMES_WIDTH - 16) * ratio), 8 * ratio, (y + 3) * ratio);
  }
}
