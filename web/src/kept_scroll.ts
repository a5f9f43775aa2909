/**
 * Where a view was scrolled to when one left it. The back button, and forward, lead there again; a link leads to the top.
 */
const PATIENCE_MS = 2000; // what a view shows may have to be asked for

export interface KeptScroll {
  leave(hash: string): void; // what stands in the room is about to go
  arrive(hash: string): void; // something else fills it
}

export function keptScroll(room: HTMLElement): KeptScroll {
  const tops = new Map<string, number>(); // by hash
  let isTraveling = false;
  let restoring = 0;

  // Before other listeners of the event hear of it: they show the view.
  window.addEventListener("popstate", () => (isTraveling = true), { capture: true });
  for (const hands of ["wheel", "pointerdown", "keydown"]) window.addEventListener(hands, () => cancelAnimationFrame(restoring), { passive: true });

  const restore = (top: number, until: number): void => {
    room.scrollTop = top;
    if (Math.abs(room.scrollTop - top) > 1 && performance.now() < until) restoring = requestAnimationFrame(() => restore(top, until));
  };
  return {
    leave(hash) {
      tops.set(hash, room.scrollTop);
    },
    arrive(hash) {
      const top = isTraveling ? (tops.get(hash) ?? 0) : 0;
      isTraveling = false;
      cancelAnimationFrame(restoring);
      restore(top, performance.now() + PATIENCE_MS);
    },
  };
}
