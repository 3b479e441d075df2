import { createDataLines } from '../client/data-lines.js';
import { readRaw } from '../client/raw-stream.js';
import { newSessionId } from '../client/session-ids.js';
import type { BegunTurn, Page, Turn } from './contender.js';

/** Characters of a frame besides its word. */
const FRAME = 'data: \n\n'.length;

/** What a reader knows of its turn: enough to ask any of the peers for the rest. */
export interface Position {
  id: string;
  words: number;
  chars: number;
}

/**
 * Begins a turn at a program of a peer and reads its frames.
 *
 * @param attachTo the request for the rest of a turn
 */
export function beginOver(
  port: number,
  turn: Turn,
  page: Page,
  signal: AbortSignal,
  attachTo: (position: Position) => { port: number; path: string } = ({ id, words, chars }) => ({
    port,
    path: `/turns/${id}?words=${String(words)}&chars=${String(chars)}`,
  }),
): BegunTurn & { position: Position } {
  const position: Position = { id: newSessionId(), words: 0, chars: 0 };
  const toLines = (shown: Page): ((piece: string, at: number) => void) => {
    const takeWords = createDataLines((word, at) => {
      position.words += 1;
      position.chars += word.length + FRAME;
      shown.show(word, at);
    });
    return (piece, at) => {
      const named = /^id: (\S+)$/m.exec(piece)?.[1];
      if (named !== undefined) position.id = named;
      takeWords(piece, at);
    };
  };
  const path = `/turns/${position.id}`;
  const body = JSON.stringify(turn);
  return {
    position,
    response: readRaw({ port, method: 'POST', path, body, onPiece: toLines(page), signal }),
    attach: (shown, leave) =>
      readRaw({ ...attachTo(position), method: 'GET', onPiece: toLines(shown), signal: leave }),
  };
}

/** What a program says of the turn's history. */
export async function readPeerHistory(
  port: number,
  { id }: Position,
): Promise<{ events: number; bytes: number }> {
  const reply = await fetch(`http://127.0.0.1:${String(port)}/history/${id}`);
  return (await reply.json()) as { events: number; bytes: number };
}
