import fc, { type Arbitrary } from 'fast-check';
import type { LogEntry } from '../../../protocol/chunk.js';
import { isControlMessage } from '../../../protocol/chunk-guards.js';
import { equal, eventually, includes } from '../assertions.js';
import { AGENT, newSessionId, textChunk, textOf } from '../fixtures.js';
import { CONTROL, type ModelEntry, StreamModel } from './stream-model.js';
import { followLog, type LogFollower } from '../stream/collect.js';
import type { Suite } from '../suite.js';
import { NO_RUN, type StreamMark, type Writer } from '../../contract/log.js';
import type { StreamManager } from '../../log/stream-manager.js';

export function streamProperties({ describe, it, runs }: Suite): void {
  describe('under any sequence of writers, attempts, repeats and kills', () => {
    it('a stream equals the reference list, and followers have seen all of it', async (setup) => {
      const { streamManager } = setup;
      await fc.assert(
        fc.asyncProperty(streamEvents, async (events) => {
          const streamId = newSessionId();
          const { model, followers } = await liveStream(streamManager, streamId, events);
          try {
            const log = await streamManager.read(streamId, 0, 10_000);
            equal(log.map(toModelEntry), model.entries);
            if (model.status !== undefined) {
              includes(await streamManager.getStreamInfo(streamId), {
                status: model.status,
                latestSequence: model.sequence,
                totalChunks: model.entries.filter(({ says }) => !isControl(says)).length,
              });
            }
            const chunks = await streamManager.getAllChunks(streamId);
            const words = model.entries.filter(({ writer }) => writer !== '');
            equal(textOf(chunks), words.map(({ says }) => says).join(''));

            for (const { from, log: follower } of followers) {
              const due = model.entries.filter(({ sequence }) => sequence > from);
              const last = due.at(-1)?.sequence ?? from;
              // Followers have seen all remaining entries, and perhaps some that were withdrawn later.
              await eventually(
                'the follower has come to the end',
                () => last <= (follower.entries.at(-1)?.sequence ?? from),
              );
              const seen = follower.entries.map(({ sequence }) => sequence);
              equal(
                seen,
                [...new Set(seen)].sort((a, b) => a - b),
                'in order, each once',
              );
              equal(
                follower.entries.map(toModelEntry),
                seen.map((sequence) => model.written.get(sequence)),
              );
              const standing = new Set(due.map(({ sequence }) => sequence));
              equal(
                seen.filter((sequence) => standing.has(sequence)),
                [...standing],
              );
            }
          } finally {
            await Promise.all(followers.map(({ log }) => log.stop()));
          }
        }),
        { numRuns: runs },
      );
    });
  });
}

function isControl(says: string): boolean {
  return says === 'stream_end' || says === 'stream_status' || says === 'stream_truncated';
}

interface StreamLife {
  model: StreamModel;
  followers: { from: number; log: LogFollower }[];
}

/** Plays the events on the store and on the model; both must give the same replies. */
async function liveStream(
  streamManager: StreamManager,
  streamId: string,
  events: readonly StreamEvent[],
): Promise<StreamLife> {
  const model = new StreamModel();
  const followers = [{ from: 0, log: followLog(streamManager, streamId) }];
  let words = 0;

  const writerOf = (event: { name: number; attempt: number }, step = 1): Writer => ({
    sessionId: streamId,
    runId: NO_RUN,
    name: `w:${String(event.name)}`,
    token: event.attempt,
    agentId: 'agent',
    agentType: AGENT,
    step,
  });
  const position = (share: number): number => Math.floor((model.sequence * share) / 100);
  const newWords = (count: number): string[] =>
    Array.from({ length: count }, () => `w${String((words += 1))} `);

  async function append(event: StreamEvent & { do: 'append' | 'skip' }): Promise<void> {
    const isSkip = event.do === 'skip';
    const { step, count, copies } = isSkip ? { step: 1, count: 1, copies: 1 } : event;
    const writer = writerOf(event, step);
    const texts = newWords(count);
    const missed = isSkip && event.what === 'batch' ? 1 : 0;
    const batch = model.nextBatch(writer.name, writer.token) + missed;
    const known = isSkip && event.what === 'known' ? model.sequence + 1 : model.sequence;
    // Deltas of the stream's own agent may have another stored form than those of others.
    const agents = [streamId, 'agent'];
    const chunks = texts.map((text, n) => textChunk(text, step, agents[n % 2]));
    for (let copy = 0; copy < copies; copy += 1) {
      equal(
        await streamManager.append(writer, batch, chunks, known),
        model.append(writer.name, writer.token, batch, texts, step, known),
      );
    }
  }

  async function mark(to: StreamMark): Promise<void> {
    equal(await streamManager.mark(streamId, to, 1), model.mark(to.status));
  }

  for (const event of events) {
    switch (event.do) {
      case 'open': {
        const writer = writerOf(event);
        const expected = model.open(writer.name, writer.token, writer.step);
        equal(await streamManager.openWriter(writer, 'n', 1), expected);
        break;
      }
      case 'close': {
        const writer = writerOf(event);
        equal(await streamManager.closeWriter(writer), model.close(writer.name, writer.token));
        break;
      }
      case 'append':
      case 'skip':
        await append(event);
        break;
      case 'pause':
        await mark({ status: 'paused' });
        break;
      case 'resume':
        await mark({ status: 'active' });
        break;
      case 'end':
        await mark({ status: 'ended' });
        break;
      case 'fail':
        await mark({ status: 'failed', error: 'why' });
        break;
      case 'truncate': {
        const minSequence = position(event.keep);
        equal(
          await streamManager.cleanupToStep(streamId, event.step, { minSequence }),
          model.truncate(event.step, minSequence),
        );
        break;
      }
      case 'read': {
        const from = position(event.from);
        const found = await streamManager.read(streamId, from, 10);
        const due = model.entries.filter(({ sequence }) => sequence > from).slice(0, 10);
        equal(found.map(toModelEntry), due);
        break;
      }
      case 'follow': {
        const from = position(event.from);
        followers.push({ from, log: followLog(streamManager, streamId, from) });
        break;
      }
    }
  }
  return { model, followers };
}

/** Converts a stored entry to the model's form. */
function toModelEntry({ sequence, writer, message }: LogEntry): ModelEntry {
  return {
    sequence,
    writer,
    says: message.type === 'text_delta' ? message.delta : message.type,
    step: isControlMessage(message) ? CONTROL : message.step,
  };
}

/**
 * One event in the life of a stream. Writers are known by name and attempt. A killed writer simply does nothing more,
 * so any event may follow any other.
 */
type StreamEvent =
  | { do: 'open' | 'close'; name: number; attempt: number }
  | { do: 'append'; name: number; attempt: number; step: number; count: number; copies: number }
  /** A writer skips a batch, or has seen more than a restored store holds. */
  | { do: 'skip'; name: number; attempt: number; what: 'batch' | 'known' }
  | { do: 'pause' | 'resume' | 'end' | 'fail' }
  | { do: 'truncate'; step: number; keep: number }
  | { do: 'read' | 'follow'; from: number };

const name = fc.nat(1);
const attempt = fc.integer({ min: 1, max: 4 });
/** A position, as a share of the log. */
const share = fc.nat(100);

const events: { weight: number; arbitrary: Arbitrary<StreamEvent> }[] = [
  { weight: 8, arbitrary: fc.record({ do: fc.constant('open'), name, attempt }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('close'), name, attempt }) },
  {
    weight: 24,
    arbitrary: fc.record({
      do: fc.constant('append'),
      name,
      attempt,
      step: fc.integer({ min: 1, max: 3 }),
      count: fc.integer({ min: 1, max: 3 }),
      copies: fc.integer({ min: 1, max: 2 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('skip'),
      name,
      attempt,
      what: fc.constantFrom('batch' as const, 'known' as const),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constantFrom('pause' as const, 'resume' as const) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('end' as const, 'fail' as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('truncate'),
      step: fc.integer({ min: 0, max: 3 }),
      keep: share,
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constantFrom('read' as const, 'follow' as const),
      from: share,
    }),
  },
];

const streamEvents = fc.array(fc.oneof(...events), {
  minLength: 5,
  maxLength: 60,
  size: 'max',
});
