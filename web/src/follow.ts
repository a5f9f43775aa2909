/**
 * Asks the server how it is: for news while it reads the trace, every second while a file is followed, and now and then
 * otherwise, to notice that it has ended. Nothing is asked while nobody looks at the page.
 */
import { Refusal, ServerGone, askNow, sentenceOf } from "./api";
import type { State } from "./protocol";

const WHILE_LOADING_MS = 150;
const WHILE_FOLLOWED_MS = 1000;
const OTHERWISE_MS = 4000;

export interface Watcher {
  state(state: State): void;
  gone(): void; // nothing answers; asked again all the same
  refused(sentence: string): void;
}

export function watchServer(watcher: Watcher): void {
  let timer: number | undefined;
  const look = async (): Promise<void> => {
    let wait = OTHERWISE_MS;
    try {
      const state = await askNow<State>("api/state?until=read");
      watcher.state(state);
      if (state.is_followed) wait = WHILE_FOLLOWED_MS;
      if (state.stage === "reading" || state.stage === "indexing") wait = 0; // the server answers when there is news
      else if (state.doing !== "" && state.stage !== "failed") wait = WHILE_LOADING_MS;
    } catch (error) {
      if (error instanceof ServerGone) watcher.gone();
      else if (error instanceof Refusal) watcher.refused(error.message);
      else watcher.refused(`The page made a mistake: ${sentenceOf(error)}`);
    }
    timer = document.hidden ? undefined : window.setTimeout(() => void look(), wait);
  };
  document.addEventListener("visibilitychange", () => {
    if (document.hidden || timer !== undefined) return;
    void look();
  });
  void look();
}
