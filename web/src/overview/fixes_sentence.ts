/** What fixes would make of the step, in a sentence. Without DOM. */
import { counted, formatPercent, formatTime } from "../format";
import type { FixesAnswer } from "../protocol";

const LIMITS: Record<FixesAnswer["bottleneck"], string> = {
  device: ", then limited by the device",
  host: ", then limited by the host",
  neither: "",
};

export function fixesSentence(count: number, answer: FixesAnswer): string {
  const larger = answer.batch > 1 ? ` for as many samples, in batches ${answer.batch} times as large` : "";
  const times = `step ${formatTime(answer.before_ns)} → ${formatTime(answer.after_ns)}${larger}`;
  return `With ${counted(count, "fix", "fixes")}: ${times} (${formatPercent(answer.saved_percent)} less)${LIMITS[answer.bottleneck]}.`;
}
