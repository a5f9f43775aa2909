/** What the trace calls kinds and facts of events, in words of the user. Pure. */

/** As the list of colors calls them. */
const KINDS: Readonly<Record<string, string>> = {
  python: "Python", runtime: "runtime call", driver: "driver call", device_annotation: "annotation on the device", device_other: "other device work",
  sync: "synchronization", memcpy: "memory copy", memset: "memory fill", async: "span of no thread", other: "other host work",
};

export function kindWord(kind: string): string {
  return KINDS[kind] ?? kind.replaceAll("_", " ");
}

/** A name that somebody else gave, such as that of an argument, stays as it is unless it is a plain word. */
export function factWord(name: string, kind: string): string {
  if (name === "sequence") return kind === "operator" ? "Autograd number" : "Number in its group";
  return /^[a-z][a-z ]+$/.test(name) ? name.slice(0, 1).toUpperCase() + name.slice(1) : name;
}
