import type { StreamMessage } from '../../../protocol/chunk.js';
import { isTerminal } from '../../../protocol/run.js';
import { NO_RUN, type AppendResult, type Writer } from '../../contract/log.js';
import type { Json } from '../json.js';
import { write } from '../log.js';
import type { MemorySession, StoreContext } from '../session.js';

interface Append {
  writer: Writer;
  batch: number;
  messages: readonly Json<StreamMessage>[];
  /** Highest sequence that the writer was told. */
  known: number;
}

/** Adds messages under a claim; a batch seen before gives its first reply. */
export function append(
  session: MemorySession,
  { writer, batch, messages, known }: Append,
  { now }: StoreContext,
): AppendResult {
  const { run, log } = session;
  const owned = session.writers.get(writer.name);
  const isOwner = owned?.token === writer.token;
  const stopRequested = run?.stop !== undefined;
  if (isOwner && owned.batch >= batch) {
    return { kind: 'appended', sequence: owned.batchSequence, stopRequested };
  }
  if (log.sequence < known) return { kind: 'rewound' };
  const isOfRun = writer.runId !== NO_RUN;
  if (isOfRun && (run?.runId !== writer.runId || isTerminal(run.status))) {
    return { kind: 'superseded' };
  }
  if (!isOwner) return { kind: 'fenced' };
  if (owned.batch !== batch - 1) return { kind: 'rewound' };
  if (!isOfRun && session.stream === 'paused') return { kind: 'closed' };
  for (const message of messages) write(log, writer.name, message);
  session.root.updatedAt = now;
  owned.batch = batch;
  owned.batchSequence = log.sequence;
  return { kind: 'appended', sequence: log.sequence, stopRequested };
}
