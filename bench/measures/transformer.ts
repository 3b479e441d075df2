import { FrameWriter } from '../../ai-sdk/parts/sse.js';
import { StreamTransformer } from '../../ai-sdk/parts/stream-transformer.js';
import type { LogEntry, StreamChunk } from '../../protocol/chunk.js';
import type { Measurement } from '../bench.js';
import { summarize, type Summary } from '../report/statistics.js';

const CHUNKS = 10_000;
const STEPS = 100;

/** A turn's chunks → the frames of its SSE response, in one process. */
export const transformer: Measurement = {
  name: 'transformer',
  take: ({ isQuick, say }) => {
    say('transformer: in this process');
    const entries = toTurn();
    const rounds = isQuick ? 10 : 50;
    const frames = measure(entries, rounds, () => {
      const transformed = createFramer();
      return (entry) => transformed(entry).length;
    });
    const floor = measure(entries, rounds, () => (entry) => JSON.stringify(entry.message).length);
    return Promise.resolve({
      rows: [
        {
          what: 'a chunk → its SSE frame',
          unit: 'ns' as const,
          value: frames,
          beside: { what: 'its JSON.stringify', value: floor },
          aim: { ratio: 5 },
        },
      ],
      notes: [],
    });
  },
};

function createFramer(): (entry: LogEntry) => string {
  const turn = new StreamTransformer({ agentId: 's', generateMessageId: () => 'msg-1' });
  const writer = new FrameWriter();
  return (entry) => {
    writer.add(turn.transform(entry));
    return writer.take();
  };
}

/** ns a chunk, by rounds; the first of them warm up and do not count. */
function measure(
  entries: readonly LogEntry[],
  rounds: number,
  start: () => (entry: LogEntry) => number,
): Summary {
  const samples: number[] = [];
  let length = 0;
  for (let round = 0; round < rounds + 5; round += 1) {
    const take = start();
    const before = process.hrtime.bigint();
    for (const entry of entries) length += take(entry);
    const spent = Number(process.hrtime.bigint() - before);
    if (round >= 5) samples.push(spent / entries.length);
  }
  if (length === 0) throw new Error('nothing was framed');
  return summarize(samples);
}

/** Steps of text, each with a tool: what most turns consist of. */
function toTurn(): LogEntry[] {
  const chunks: StreamChunk[] = [];
  for (let step = 1; step <= STEPS; step += 1) {
    const base = { agentId: 's', agentType: 'lab', step, timestamp: 1 };
    const call = { ...base, toolCallId: `c${String(step)}`, toolName: 'echo' };
    chunks.push({ ...base, type: 'step_start', stepId: `s${String(step)}` });
    for (let n = 4; n < CHUNKS / STEPS; n += 1) {
      chunks.push({ ...base, type: 'text_delta', delta: `word${String(n)} ` });
    }
    chunks.push({
      ...call,
      type: 'tool_start',
      arguments: { value: step },
      providerExecuted: true,
    });
    chunks.push({ ...base, type: 'step_end', stepId: `s${String(step)}` });
    chunks.push({ ...call, type: 'tool_end', result: { value: step } });
  }
  return chunks.map((message, index) => ({ sequence: index + 1, writer: 'm', message }));
}
