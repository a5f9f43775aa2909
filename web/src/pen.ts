/** What pictures are painted with: the part of a canvas's context that a file of vectors has, too (svg_pen.ts). */
export type Pen = Pick<
  CanvasRenderingContext2D,
  | "fillStyle" | "strokeStyle" | "globalAlpha" | "lineWidth" | "font" | "textAlign" | "textBaseline"
  | "save" | "restore" | "setTransform" | "createPattern"
  | "beginPath" | "moveTo" | "lineTo" | "bezierCurveTo" | "closePath" | "rect" | "roundRect" | "clip" | "fill" | "stroke"
  | "fillRect" | "strokeRect" | "fillText"
>;
