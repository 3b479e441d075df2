import { formatCheckpointId, formatModelWriter } from '../../protocol/ids.js';
import {
  createReplyFold,
  isCarriedOut,
  toPartialInput,
  type ReplyFold,
} from '../../protocol/reply-fold.js';
import type { AssistantPart, AssistantRow } from '../../protocol/rows.js';
import type { RunError, StepOutcome, TerminalStatus } from '../../protocol/run.js';
import { closedCall, closingChunks, CUT_CALLS, type StepPlace } from './step-chunks.js';
import type { SessionRecord } from '../../store/contract/sessions.js';
import type { CommitInput } from '../../store/contract/steps.js';
import type { Store } from '../../store/contract/store.js';
import type { Interruption } from '../../protocol/chunk.js';
import type { StreamManager } from '../../store/log/stream-manager.js';
import { readPages } from '../../store/log/stream-reader.js';

/** Error of a run whose work the store has lost. */
export const STATE_LOST: RunError = {
  code: 'state_lost',
  message: 'Part of this conversation was lost. Send a message to continue.',
  retryable: false,
};

export interface ForceEndDeps {
  store: Pick<Store, 'steps' | 'runs'>;
  streamManager: Pick<StreamManager, 'read'>;
}

export interface ForcedEnd {
  status: Exclude<TerminalStatus, 'completed'>;
  error?: RunError;
  now: number;
}

/**
 * Ends a run whose writer is silent or gone: fences off the writer, then commits the partial reply
 * in its place, so the record is as if the writer had confirmed. Harmless if the run has ended.
 */
export async function forceEnd(
  { store, streamManager }: ForceEndDeps,
  record: SessionRecord,
  end: ForcedEnd,
): Promise<void> {
  const { sessionId, runId, agent: agentType, committedStep, claimedStep } = record;
  const isStepRunning = claimedStep > committedStep;
  if (isStepRunning) {
    const name = formatModelWriter(sessionId, claimedStep);
    const taken = await store.steps.takeOver({ sessionId, runId, name });
    if (taken.kind === 'superseded') return;
    if (taken.kind === 'taken') {
      const { token, first } = taken;
      const writer = { sessionId, runId, name, token, agentType, step: claimedStep };
      const reply = await readReply(streamManager, sessionId, name, first);
      const { kind } = await store.steps.commit({ writer, ...toCutCommit(record, reply, end) });
      if (kind !== 'rewound') return;
    }
  }
  const { status, error, now } = end;
  const step = isStepRunning ? claimedStep : committedStep;
  await store.runs.end({ sessionId, runId, agentType, step, status, error, now });
}

/** Reads a writer's chunks after a position of the log. */
async function readReply(
  streamManager: Pick<StreamManager, 'read'>,
  sessionId: string,
  writer: string,
  first: number,
): Promise<ReplyFold> {
  const fold = createReplyFold();
  for await (const page of readPages(streamManager, sessionId, first)) {
    for (const entry of page) if (entry.writer === writer) fold.accept(entry.message);
  }
  return fold;
}

function toCutCommit(
  record: SessionRecord,
  { parts, argumentText }: ReplyFold,
  { status, error, now }: ForcedEnd,
): Omit<CommitInput, 'writer'> {
  const { sessionId, runId, agent: agentType, claimedStep: step, messageId } = record;
  const from: StepPlace = { agentId: sessionId, agentType, step, runId };
  const why = status === 'failed' ? CUT_CALLS.failed : CUT_CALLS.stopped;
  const cut = parts.map((part) => withInput(parts, part, argumentText));
  const closed = cut.flatMap((part) =>
    part.type === 'tool-call' && !isCarriedOut(cut, part)
      ? [closedCall(from, part, part.input, why, now)]
      : [],
  );
  const interrupted = toInterruption(status);
  const row: AssistantRow = {
    role: 'assistant',
    messageId,
    runId,
    step,
    parts: cut,
    interrupted,
  };
  const hasRow = parts.length > 0;
  const checkpointId = formatCheckpointId(runId, step);
  const outcome: StepOutcome = { kind: 'ended', step, status, error };
  return {
    known: 0,
    row: hasRow ? row : undefined,
    calls: closed.map(({ call }) => call),
    chunks: [
      ...closed.flatMap(({ chunks }) => chunks),
      ...closingChunks(from, now, { hasRow, interrupted }),
    ],
    outcome,
    checkpointId,
    answersStop: true,
    final: { status, error },
    now,
  };
}

function withInput(
  parts: readonly AssistantPart[],
  part: AssistantPart,
  argumentText: ReplyFold['argumentText'],
): AssistantPart {
  if (part.type !== 'tool-call' || isCarriedOut(parts, part)) return part;
  // The provider had not finished this call, so it is cut like any other.
  if (part.kind === 'provider') return { ...part, kind: 'server' };
  return { ...part, input: toPartialInput(argumentText.get(part.toolCallId)), closed: true };
}

function toInterruption(status: ForcedEnd['status']): Interruption {
  if (status === 'failed') return 'failure';
  return status === 'aborted' ? 'abort' : 'interrupt';
}
