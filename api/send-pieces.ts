import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setImmediate } from 'node:timers/promises';
import type { Response } from 'express';

export async function sendLines(response: Response, lines: AsyncIterable<string>): Promise<void> {
  response.type('application/x-ndjson');
  // The first line may take long to find.
  response.flushHeaders();
  await sendPieces(response, lines);
}

/**
 * Writes a reply as its reader takes it. If the source fails, the connection is cut, so that no client
 * takes a part for the whole. @throws what the source throws
 */
export async function sendPieces(
  response: Response,
  pieces: AsyncIterable<string | Uint8Array>,
): Promise<void> {
  if (response.req.method === 'HEAD') {
    response.end();
    return;
  }
  const source = Readable.from(pieces);
  await pipeline(source, response).catch((error: unknown) => {
    // A reader that leaves early is no fault.
    if (error === source.errored) throw error;
  });
}

interface WithMessages {
  messages: readonly object[];
}

/** A reply of at least this many characters is written in pieces of about this size. */
const PIECE = 256 * 1024;

/** Replies like `response.json`, but serves other requests while it writes many messages. */
export async function sendMessages<Reply extends WithMessages>(
  response: Response,
  reply: Reply,
): Promise<void> {
  const pieces = toPieces(reply);
  const { value: first = '' } = pieces.next();
  response.type('json');
  if (first.length < PIECE) response.send(first);
  else await sendPieces(response, inTurns(first, pieces));
}

async function* inTurns(first: string, others: Iterable<string>): AsyncGenerator<string> {
  yield first;
  for (const piece of others) {
    await setImmediate();
    yield piece;
  }
}

function* toPieces(reply: WithMessages): Generator<string, undefined> {
  let text = '';
  for (const token of toTokens(reply)) {
    text += token;
    if (text.length < PIECE) continue;
    yield text;
    text = '';
  }
  if (text !== '') yield text;
}

/** Yields the JSON of a reply, with its messages one by one. */
function* toTokens(reply: WithMessages): Generator<string, undefined> {
  let before = '{';
  for (const [name, value] of Object.entries(reply as object) as [string, unknown][]) {
    if (value === undefined) continue;
    yield `${before}${JSON.stringify(name)}:`;
    before = ',';
    if (name !== 'messages') {
      yield JSON.stringify(value);
      continue;
    }
    yield '[';
    for (const [at, message] of reply.messages.entries())
      yield `${at === 0 ? '' : ','}${JSON.stringify(message)}`;
    yield ']';
  }
  yield '}';
}
