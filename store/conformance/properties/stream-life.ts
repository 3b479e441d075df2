import type { LogEntry } from '../../../protocol/chunk.js';
import { isControlMessage } from '../../../protocol/stream-end-sentinel.js';
import { NO_RUN, type StreamMark, type Writer } from '../../contract/log.js';
import type { StreamManager } from '../../log/stream-manager.js';
import { equal } from '../assertions.js';
import { AGENT, textChunk } from '../fixtures.js';
import { followLog, type LogFollower } from '../stream/collect.js';
import type { StreamEvent } from './stream-events.js';
import { CONTROL, StreamModel, type ModelEntry } from './stream-model.js';

export interface StreamLife {
  model: StreamModel;
  followers: { from: number; log: LogFollower }[];
}

/** Plays the events on the store and on the model; both must give the same replies. */
export async function liveStream(
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
    // A delta of the stream's own agent may be stored otherwise than one of another agent.
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

/** A stored entry as the model represents it. */
export function toModelEntry({ sequence, writer, message }: LogEntry): ModelEntry {
  return {
    sequence,
    writer,
    says: message.type === 'text_delta' ? message.delta : message.type,
    step: isControlMessage(message) ? CONTROL : message.step,
  };
}
