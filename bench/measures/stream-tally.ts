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

  /** The JSON of an event; those that are no text are of no interest here. */
  acceptEvent(json: string, at: number): void {
    if (!json.startsWith('{"type":"text-delta"')) return;
    this.acceptDelta((JSON.parse(json) as { delta: string }).delta, at);
  }

  /** Each delta holds one stamp or, if the writer was behind, several. */
  acceptDelta(delta: string, at: number): void {
    this.frames += 1;
    for (const stamp of delta.trimEnd().split(' ').map(Number)) {
      this.received += 1;
      if (stamp <= this.#newest) this.doubled += 1;
      this.#newest = stamp;
      if (this.#isOpen) this.latencies.push(at - stamp);
    }
  }
}
