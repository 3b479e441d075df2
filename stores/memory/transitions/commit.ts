import type { Row } from '../../../protocol/rows.js';
import type { StreamMessage } from '../../../protocol/chunk.js';
import { isTerminal, type StepOutcome } from '../../../protocol/run.js';
import { toCallSpec } from '../../record/call-spec.js';
import type { NewCall } from '../../contract/call-record.js';
import type { Checkpoint } from '../../contract/checkpoints.js';
import type { Writer } from '../../contract/log.js';
import type { CommitInput, CommitResult } from '../../contract/steps.js';
import { addUsage } from '../../record/run-usage.js';
import { hasUnsettledCalls, settleCallWith } from '../calls.js';
import { finish } from '../finish.js';
import { fromJson, toJson, type Json } from '../json.js';
import { write } from '../log.js';
import { outcomeOf } from '../outcome.js';
import { speakerOf } from '../own-chunks.js';
import { restIfWaiting } from '../pause.js';
import { nextOf, steeringWaits } from '../queue.js';
import { pushReply } from '../reply.js';
import { toCheckedJson } from '../../record/checked-messages.js';
import { toBriefRow, toShownPart } from '../../record/sub-agent-calls.js';
import type { MemoryCall, MemoryRun, MemorySession, StoreContext } from '../session.js';
import { isConversation } from '../tree.js';

/** Stores a step's reply and opens its calls; pauses or ends the run if nothing else is to do. */
export function commit(
  session: MemorySession,
  input: CommitInput,
  chunks: readonly Json<StreamMessage>[],
  context: StoreContext,
): CommitResult {
  const { writer, final, now } = input;
  const { run, log } = session;
  if (run?.runId === writer.runId && run.committedStep >= writer.step) return outcomeOf(run);
  if (log.sequence < input.known) return { kind: 'rewound' };
  if (run?.runId !== writer.runId) return { kind: 'superseded' };
  const isOver = isTerminal(run.status);
  if (run.stop !== undefined && !input.answersStop && !isOver) {
    return { kind: 'stopped', stop: fromJson(run.stop) };
  }
  if (isOver) return { kind: 'superseded' };
  if (session.writers.get(writer.name)?.token !== writer.token) return { kind: 'fenced' };
  if (run.committedStep !== writer.step - 1) return { kind: 'fenced' };

  if (input.row !== undefined) pushReply(session, run, input.row);
  for (const chunk of chunks) write(log, writer.name, chunk);
  for (const call of input.calls) openCall(session, writer, call);
  session.busy.delete('model');
  session.writers.delete(writer.name);
  const isSteered =
    final?.status === 'completed' && steeringWaits(session) && !hasUnsettledCalls(session);
  markCommitted(session, run, isSteered ? toUnfinished(input) : input);
  if (isSteered) return { kind: 'steered', sequence: log.sequence };
  const who = speakerOf(writer, now);
  let paused = false;
  if (final === undefined) {
    paused = restIfWaiting(session, now, context.now);
  } else {
    const reason = run.stop === undefined ? undefined : fromJson(run.stop).reason;
    const code = final.status === 'failed' ? 'run_failed' : 'run_stopped';
    finish(session, run, who, { ...final, reason, code }, context);
  }
  const next = final === undefined ? {} : nextOf(session);
  return { kind: 'committed', sequence: log.sequence, paused, ...next };
}

/** A last step that turns out not to be the last one. */
function toUnfinished(input: CommitInput): CommitInput {
  const outcome: StepOutcome = { kind: 'calls', step: input.writer.step, calls: [] };
  const unfinished = { ...input, outcome };
  delete unfinished.output;
  return unfinished;
}

function openCall(session: MemorySession, writer: Writer, call: NewCall): void {
  const { toolCallId, toolName, kind, row, deadlineMs, idempotent = false, child } = call;
  const spec = toCallSpec(writer, call);
  const state = kind === 'server' || kind === 'subagent' ? 'open' : 'waiting';
  const fresh = { executions: 0, hasTimedOut: false, isTold: false };
  const stored = { toolName, kind, spec: toJson(spec), deadlineMs, idempotent, state } as const;
  session.calls.set(toolCallId, {
    ...stored,
    ...fresh,
    child: spec.child,
    brief: child && toJson<Row>(toBriefRow(toolCallId, child)),
    ask: row === undefined ? toHeld(call, writer.runId) : undefined,
  });
  if (!isConversation(session) && session.root.owners.get(toolCallId)?.sessionId !== session.id) {
    session.root.owners.set(toolCallId, { sessionId: session.id });
  }
  if (row !== undefined) settleCallWith(session, toolCallId, toJson(row));
  else if (state === 'open') session.busy.add(toolCallId);
}

function toHeld(call: NewCall, runId: string): MemoryCall['ask'] {
  if (call.ask === undefined) return undefined;
  const [chunk] = toCheckedJson([call.ask]);
  return chunk === undefined ? undefined : { chunk, part: toShownPart(call, runId) };
}

function markCommitted(session: MemorySession, run: MemoryRun, input: CommitInput): void {
  const { writer, checkpointId, outcome, now } = input;
  const checkpoint: Checkpoint = {
    id: checkpointId,
    runId: writer.runId,
    stepCount: writer.step,
    messageCount: session.rows.length,
    streamSequence: session.log.sequence,
    timestamp: now,
    stateVersion: session.stateVersion,
  };
  session.checkpoints.push(toJson(checkpoint));
  session.checkpointId = checkpointId;
  session.checkpointVersion = session.stateVersion;
  // Of a steered run, each turn has its own.
  if (session.turnState?.turn !== run.turn) {
    session.turnState = { turn: run.turn, version: session.stateVersion };
  }
  session.updatedAt = now;
  run.committedStep = writer.step;
  run.outcome = toJson(outcome);
  run.usage = addUsage(run.usage, input.usage);
  if (input.finishReason !== undefined) run.finishReason = input.finishReason;
  if (input.output !== undefined) run.output = toJson(input.output);
}
