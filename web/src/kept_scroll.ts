/**
 * Where a view was scrolled to when one left it. The back button, and forward, lead there again; a link leads to the top.
 */
const PATIENCE_MS = 2000; // what a view shows may have to be asked for

export interface KeptScroll {
  leave(hash: string): void; // what stands in the room is about to go
  arrive(hash: string, isReturn: boolean): void; // something else fills it
}

export function keptScroll(room: HTMLElement): KeptScroll {
  const tops = new Map<string, number>(); // by hash
  let restoring = 0;

  for (const hands of ["wheel", "pointerdown", "keydown"]) window.addEventListener(hands, () => cancelAnimationFrame(restoring), { passive: true });

  const restore = (top: number, until: number): void => {
    room.scrollTop = top;
    if (Math.abs(room.scrollTop - top) > 1 && performance.now() < until) restoring = requestAnimationFrame(() => restore(top, until));
  };
  return {
    leave(hash) {
      tops.set(hash, room.scrollTop);
    },
    arrive(hash, isReturn) {
      const top = isReturn ? (tops.get(hash) ?? 0) : 0;
      cancelAnimationFrame(restoring);
      restore(top, performance.now() + PATIENCE_MS);
    },
  };
}
