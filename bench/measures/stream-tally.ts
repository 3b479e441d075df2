/** What arrived of one stream of stamps. */
export class StreamTally {
  readonly latencies: number[] = [];
  /** Stamps out of order or seen before. */
  doubled = 0;
  #received = 0;
  #frames = 0;
  #newest = 0;
  #isOpen = false;

  /** Latencies count from now on. */
  openWindow(): void {
    this.#isOpen = true;
  }

  closeWindow(): void {
    this.#isOpen = false;
  }

  /** True once the first stamp has come. */
  get hasBegun(): boolean {
    return this.#received > 0;
  }

  /** Each delta holds one stamp or, if the writer was behind, several. */
  accept(json: string, at: number): void {
    if (!json.startsWith('{"type":"text-delta"')) return;
    this.#frames += 1;
    const { delta } = JSON.parse(json) as { delta: string };
    for (const stamp of delta.trimEnd().split(' ').map(Number)) {
      this.#received += 1;
      if (stamp <= this.#newest) this.doubled += 1;
      this.#newest = stamp;
      if (this.#isOpen) this.latencies.push(at - stamp);
    }
  }

  get frames(): number {
    return this.#frames;
  }

  lostOf(sent: number): number {
    return sent - (this.#received - this.doubled);
  }
}
