import { randomBytes } from 'node:crypto';
import type { StreamChunk } from '../../protocol/chunk.js';
import { hasCode, HelixError } from '../../protocol/errors.js';
import { LIMITS } from '../../protocol/limits.js';
import { toCheckedText } from '../record/stored-json.js';
import { retryWhileUnavailable } from '../record/outage.js';
import { checkStreamId } from '../record/checked-ids.js';
import { NO_RUN, type AppendResult, type StreamLog, type Writer } from '../contract/log.js';
import type { CreateWriterOptions, StreamWriter } from './stream-manager.js';

interface Pending {
  chunk: StreamChunk;
  bytes: number;
  resolve: () => void;
  reject: (error: unknown) => void;
}

/** Opens a writer that belongs to no run. One append is in flight; the next one sends all chunks written meanwhile. */
export async function openStreamWriter(
  log: StreamLog,
  streamId: string,
  agentId: string,
  agentType: string,
  { name = randomBytes(6).toString('hex'), attempt = 1 }: CreateWriterOptions = {},
): Promise<StreamWriter> {
  checkStreamId(streamId);
  for (const [what, text] of Object.entries({ agentId, agentType, name })) checkName(what, text);
  if (!Number.isSafeInteger(attempt) || attempt < 1) {
    throw new HelixError('validation_error', 'attempt must be a whole number from 1.');
  }
  const writer: Writer = {
    sessionId: streamId,
    runId: NO_RUN,
    name: `w:${name}`,
    token: attempt,
    agentId,
    agentType,
    step: 0,
  };
  const opened = await log.openWriter(writer, randomBytes(6).toString('hex'), Date.now());
  if (opened.kind === 'fenced') throw refusal('fenced');
  if (opened.kind === 'ended') {
    throw new HelixError('stream_ended', 'The run has ended; the next run reopens its stream.');
  }

  let known = opened.sequence;
  let batch = 0;
  let queue: Pending[] = [];
  let isPumping = false;
  let pumped: Promise<void> = Promise.resolve();
  let lost: Error | undefined;
  let isClosed = false;
  // Accepted chunks must be stored whatever happens, so this is never aborted.
  const never = new AbortController().signal;

  async function pump(): Promise<void> {
    isPumping = true;
    while (queue.length > 0) {
      const taken = take(queue);
      queue = queue.slice(taken.length);
      try {
        if (lost !== undefined) throw lost;
        const chunks = taken.map(({ chunk }) => chunk);
        // A refused batch stored nothing, so its number is used again. A batch with unknown outcome is repeated under
        // its number, which is safe.
        const append = (): Promise<AppendResult> => log.append(writer, batch + 1, chunks, known);
        const reply = await retryWhileUnavailable(append, never);
        if (reply.kind !== 'appended') throw refusal(reply.kind);
        batch += 1;
        known = reply.sequence;
        for (const { resolve } of taken) resolve();
      } catch (error) {
        // Only a pause guarantees that nothing was stored.
        const isPaused = hasCode(error, 'stream_paused');
        if (!isPaused) lost = error instanceof Error ? error : new Error(String(error));
        for (const { reject } of taken) reject(error);
      }
    }
    // Set synchronously, so a write before the promise settles starts a new loop.
    isPumping = false;
  }

  return {
    write: async (chunk) => {
      if (isClosed) throw new HelixError('writer_closed', 'This writer has been closed.');
      if (lost !== undefined) throw lost;
      const json = toCheckedText(chunk);
      await new Promise<void>((resolve, reject) => {
        queue.push({ chunk, bytes: json.length, resolve, reject });
        if (!isPumping) pumped = pump();
      });
    },
    close: async () => {
      isClosed = true;
      await pumped;
      if (lost === undefined) await log.closeWriter(writer);
    },
  };
}

function take(queue: readonly Pending[]): Pending[] {
  let bytes = 0;
  const fits = queue.findIndex((pending, at) => {
    bytes += pending.bytes;
    return at > 0 && bytes > LIMITS.appendBytes;
  });
  return fits < 0 ? [...queue] : queue.slice(0, fits);
}

function refusal(kind: Exclude<AppendResult['kind'], 'appended'>): HelixError {
  if (kind === 'closed') return new HelixError('stream_paused', 'The stream is paused.');
  if (kind !== 'rewound')
    return new HelixError('writer_fenced', 'This writer was replaced, or its stream has ended.');
  return new HelixError('rewound', 'The store is older than what it had confirmed to this writer.');
}

function checkName(what: string, text: unknown): void {
  if (typeof text === 'string' && text.length > 0 && text.length <= LIMITS.idChars) return;
  throw new HelixError('validation_error', `${what} must be a string of 1 to 256 characters.`);
}
