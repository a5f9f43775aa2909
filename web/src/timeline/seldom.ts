/** Does something when it is asked for: at once, but not again before some time has passed. The last wish is never lost. */
export class Seldom {
  private timer: ReturnType<typeof setTimeout> | undefined;
  private last = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly everyMs: number,
    private readonly act: () => void,
    private readonly now: () => number = () => performance.now(),
  ) {}

  get isWaiting(): boolean {
    return this.timer !== undefined;
  }

  ask(): void {
    if (this.timer !== undefined) return;
    const wait = this.last + this.everyMs - this.now();
    if (wait <= 0) this.doIt();
    else this.timer = setTimeout(() => this.doIt(), wait);
  }

  private doIt(): void {
    this.timer = undefined;
    this.last = this.now();
    this.act();
  }

  close(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
  }
}
