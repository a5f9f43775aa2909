/** Sentences and commands of the overview. Without DOM. */
import { shellWord } from "../shell_word";
import type { Overview } from "../protocol";

/** What to know of the savings that are listed; empty where none of them is a time. */
export function savingsSentence({ analyze, findings }: Pick<Overview, "analyze" | "findings">): string {
  const saving = analyze.findings.filter((finding) => finding.saving.high_percent > 0).length;
  if (saving === 0) return "";
  if (saving === 1) return "The saving is what the fix would buy.";
  const tryable = findings.filter(({ can_be_tried }) => can_be_tried).length;
  return `Each saving is what that fix alone would buy; savings overlap.${tryable > 1 ? " Tick several to see them together." : ""}`;
}

/** The command that writes what the overview shows as one file. */
export function reportCommand(file: string, steps: string | undefined): string {
  return ["telltale analyze", shellWord(file), steps !== undefined && `--steps ${shellWord(steps)}`, "--html report.html"].filter((word) => word !== false).join(" ");
}
