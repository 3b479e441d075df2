/** What arrived of a text whose words are `<number>:<wall clock>:…`, counted from 1. */
export class WordTally {
  readonly latencies: number[] = [];
  received = 0;
  lost = 0;
  /** Seen before, or out of order. */
  doubled = 0;
  #newest = 0;

  /** The JSON of an event of the UI message stream. */
  acceptEvent(json: string, at: number): void {
    if (!json.startsWith('{"type":"text-delta"')) return;
    const { delta } = JSON.parse(json) as { delta: string };
    for (const word of delta.trimEnd().split(' ')) {
      const [number = NaN, saidAt = NaN] = word.split(':').map(Number);
      this.received += 1;
      this.latencies.push(at - saidAt);
      if (number <= this.#newest) this.doubled += 1;
      else this.lost += number - this.#newest - 1;
      this.#newest = Math.max(this.#newest, number);
    }
  }

  /** Counts the words that were sent and had not arrived at the end. */
  close(sent: number): void {
    this.lost += sent - this.#newest;
  }
}
