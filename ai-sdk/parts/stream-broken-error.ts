import type { UIStreamPart } from './ui-stream-part.js';

/** The response cannot be completed; its connection is to be cut, never ended. */
export class StreamBrokenError extends Error {
  override readonly name: string = 'StreamBrokenError';
  /** What the reader is told before. */
  readonly parts: readonly UIStreamPart[];

  constructor(message: string, parts: readonly UIStreamPart[] = []) {
    super(message);
    this.parts = parts;
  }
}

/** The reader takes less than there is to tell. */
export class SlowReaderError extends StreamBrokenError {
  constructor() {
    super('the viewer is too slow');
  }
}
