/** What arrived of one stream of stamps. */
export class StreamTally {
  readonly sessionId: string;
  readonly latencies: number[] = [];
  /** Stamps so far, in so many frames. */
  received = 0;
  frames = 0;
  /** Stamps out of order or seen before. */
  doubled = 0;
  #newest = 0;
  #isOpen = false;

  constructor(sessionId: string) {
    this.sessionId = sessionId;
  }

  /** Latencies count from now on. */
  openWindow(): void {
    this.#isOpen = true;
  }

  closeWindow(): void {
    this.#isOpen = false;
  }

  /** Each delta holds one stamp or, if the writer was behind, several. */
  accept(json: string, at: number): void {
    if (!json.startsWith('{"type":"text-delta"')) return;
    this.frames += 1;
    const { delta } = JSON.parse(json) as { delta: string };
    for (const stamp of delta.trimEnd().split(' ').map(Number)) {
      this.received += 1;
      if (stamp <= this.#newest) this.doubled += 1;
      this.#newest = stamp;
      if (this.#isOpen) this.latencies.push(at - stamp);
    }
  }
}
