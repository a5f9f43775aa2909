/**
 * Answers by what was asked. Who asks what another asks already waits with it; an answer is kept for those who come
 * later; a question that all have given up is given up. Without DOM.
 */

interface Question {
  answer: Promise<unknown>;
  controller: AbortController;
  askers: number;
}

export class SharedAnswers {
  private readonly kept = new Map<string, unknown>();
  private readonly open = new Map<string, Question>();

  constructor(private readonly most: number) {}

  /** `fetch` is called only where nobody asked before. */
  async get(address: string, fetch: (signal: AbortSignal) => Promise<unknown>, signal?: AbortSignal): Promise<unknown> {
    signal?.throwIfAborted();
    if (this.kept.has(address)) {
      const answer = this.kept.get(address);
      this.keep(address, answer);
      return answer;
    }
    const question = this.open.get(address) ?? this.begin(address, fetch);
    ++question.askers;
    return new Promise((resolve, reject) => {
      const giveUp = (): void => {
        if (--question.askers === 0) this.giveUp(address, question);
        reject(signal?.reason as Error);
      };
      signal?.addEventListener("abort", giveUp, { once: true });
      const end = (): void => signal?.removeEventListener("abort", giveUp);
      question.answer.then(resolve, reject).finally(end);
    });
  }

  /** Nothing that was asked before holds. Who waits gets the old answer, and nobody later. */
  forget(): void {
    this.kept.clear();
    this.open.clear();
  }

  private begin(address: string, fetch: (signal: AbortSignal) => Promise<unknown>): Question {
    const controller = new AbortController();
    const question: Question = { answer: fetch(controller.signal), controller, askers: 0 };
    this.open.set(address, question);
    question.answer.then(
      (answer) => {
        if (this.open.get(address) !== question) return;
        this.open.delete(address);
        this.keep(address, answer);
      },
      () => {
        if (this.open.get(address) === question) this.open.delete(address);
      },
    );
    return question;
  }

  private giveUp(address: string, question: Question): void {
    if (this.open.get(address) === question) this.open.delete(address);
    question.controller.abort();
  }

  /** As the newest; beyond the limit the one goes that nobody asked for the longest time. */
  private keep(address: string, answer: unknown): void {
    this.kept.delete(address);
    this.kept.set(address, answer);
    const oldest = this.kept.keys().next().value;
    if (this.kept.size > this.most && oldest !== undefined) this.kept.delete(oldest);
  }
}
