/** Files of the program by whose they are, and where in one to begin. Without DOM. */
import { csvText } from "../csv";
import type { Place } from "../place";
import type { SourceFiles, SourceText } from "../protocol";

type File = SourceFiles["files"][number];
export interface FileGroup {
  title: string;
  files: File[];
}

const TITLES: readonly [File["owner"], string][] = [
  ["user", "Your files"],
  ["package", "Packages"],
  ["library", "Python and PyTorch"],
];

/** The user's own files come first; those of one owner stay in the server's order. */
export function fileGroups(files: readonly File[]): FileGroup[] {
  return TITLES.map(([owner, title]) => ({ title, files: files.filter((file) => file.owner === owner) })).filter((group) => group.files.length > 0);
}

/** The line with the most time, on the host or the GPU. */
export function dearestLine(lines: Readonly<SourceText["lines"]>): number {
  const cost = (at: number): number => Math.max(lines[at]?.host_ns ?? 0, lines[at]?.device_ns ?? 0);
  return lines.reduce((best, _, at) => (cost(at) > cost(best) ? at : best), 0);
}

export interface LinePlace {
  file: string;
  line: number;
}

/** The line that the address asks for ("train.py:13"), or null. */
export function lineIn(place: Place): LinePlace | null {
  const [, file, line] = /^(.+):(\d+)$/.exec(place["line"] ?? "") ?? [];
  return file === undefined ? null : { file, line: Number(line) };
}

const TAB = 4; // as wide as in the style sheet

/** Its characters. */
export function longestLine(lines: Readonly<SourceText["lines"]>): number {
  return lines.reduce((most, { text }) => Math.max(most, (text ?? "").replaceAll("\t", " ".repeat(TAB)).length), 0);
}

export function sourceCsv(lines: Readonly<SourceText["lines"]>): string {
  return csvText(["line", "device_ns", "host_ns", "calls", "text"], lines.map(({ line, device_ns, host_ns, calls, text }) => [line, device_ns, host_ns, calls, text]));
}
