/** Over what the numbers of a table are, in words that stand above it. Without DOM. */

/** `meanOf`: over so many steps they are a step's mean; 0 where they are sums. */
export function spanWords(meanOf: number, steps: string | undefined, hasSteps: boolean): string {
  if (!hasSteps) return "Over the whole recording.";
  const word = steps === undefined ? "" : /\.\.|,/.test(steps) ? `steps ${steps.replace("..", " to ")}` : `step ${steps}`;
  if (meanOf === 0) return word === "" ? "Totals over the whole recording." : `Totals over ${word}.`;
  if (meanOf === 1) return word === "" ? "Times and calls of one step." : `Times and calls of ${word}.`;
  return `Times and calls per step, the mean of ${word === "" ? `${String(meanOf)} steps` : word}.`;
}
