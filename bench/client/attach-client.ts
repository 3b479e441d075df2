import { wallClock } from '../clock.js';
import { createDataLines } from './data-lines.js';
import { readRaw } from './raw-stream.js';

/** Where the text of a long turn ends; a reader who has this has everything. */
export const LAST_WORD = '~end~';

/** A turn's text in so many deltas of the size that models send. */
export function longText(chunks: number): string[] {
  const words = Array.from({ length: chunks - 1 }, (_, index) => `word${String(index % 97)} `);
  return [...words, LAST_WORD];
}

export interface Attached {
  ms: number;
  /** The text received until then. */
  text: string;
}

/** Asks for a turn and reads until its last word. Nothing is parsed before the clock has stopped. */
export async function attach(
  port: number,
  sessionId: string,
  headers: Record<string, string> = {},
): Promise<Attached> {
  const pieces: string[] = [];
  const startedAt = wallClock();
  let endedAt = NaN;
  await readRaw({
    port,
    method: 'GET',
    path: `/api/chat/${sessionId}`,
    headers,
    onPiece: (piece, at) => {
      pieces.push(piece);
      endedAt = at;
      return piece.includes(LAST_WORD);
    },
  });
  return { ms: endedAt - startedAt, text: textOf(pieces) };
}

function textOf(pieces: readonly string[]): string {
  let text = '';
  const takeLines = createDataLines((json) => {
    if (json.startsWith('{"type":"text-delta"')) {
      text += (JSON.parse(json) as { delta: string }).delta;
    }
  });
  for (const piece of pieces) takeLines(piece, 0);
  return text;
}
