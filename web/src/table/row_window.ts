/** Which rows of a long table are on the screen, and which pages hold them. Without DOM. */

export const PAGE_ROWS = 200;
const ROWS_AROUND = 12; // made beyond the edges, so that slow scrolling shows no gap

export interface RowWindow {
  first: number;
  end: number; // behind the last
}

export function rowWindow(scrollTop: number, height: number, rowHeight: number, total: number): RowWindow {
  const first = Math.max(0, Math.floor(scrollTop / rowHeight) - ROWS_AROUND);
  const end = Math.min(total, Math.ceil((scrollTop + height) / rowHeight) + ROWS_AROUND);
  return { first: Math.min(first, end), end };
}

/** Offsets of the pages that hold these rows. */
export function pagesOf({ first, end }: RowWindow): number[] {
  const pages: number[] = [];
  for (let offset = Math.floor(first / PAGE_ROWS) * PAGE_ROWS; offset < end; offset += PAGE_ROWS) pages.push(offset);
  return pages;
}

/** Where to scroll so that a row is in sight, or null where it is already. */
export function scrollTo(row: number, scrollTop: number, height: number, rowHeight: number): number | null {
  const top = row * rowHeight;
  if (top < scrollTop) return top;
  return top + rowHeight > scrollTop + height ? top + rowHeight - height : null;
}
