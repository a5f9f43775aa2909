/** Which names a search stands out. Pure. */

/** What is searched for, and the most frequent of the names that the server found. */
export interface Searched {
  text: string;
  isExact: boolean;
  names: readonly string[]; // as they are shown
}

export class SearchMarks {
  private readonly byNames = new WeakMap<readonly string[], Uint8Array>();
  private readonly found: ReadonlySet<string>;
  private readonly wanted: string;

  constructor(readonly searched: Searched) {
    this.found = new Set(searched.names);
    this.wanted = searched.text.toLowerCase();
  }

  /** 1 for each name that matches; found out once for each list. */
  of(names: readonly string[]): Uint8Array {
    let marks = this.byNames.get(names);
    if (!marks) this.byNames.set(names, (marks = Uint8Array.from(names, (name) => (this.isMatch(name) ? 1 : 0))));
    return marks;
  }

  private isMatch(name: string): boolean {
    return this.found.has(name) || (!this.searched.isExact && name.toLowerCase().includes(this.wanted));
  }
}
