import type { Row } from '../../../protocol/rows.js';
import { isTerminal } from '../../../protocol/run.js';
import type { Checkpoint } from '../../contract/checkpoints.js';
import type { RewindInput, RewindResult } from '../../contract/runs.js';
import { fromJson, toJson, type Json } from '../json.js';
import { removeEntries } from '../log.js';
import { storeMessages } from '../queue.js';
import { writeOwn } from '../own-chunks.js';
import { findTarget, type RewindTarget } from '../rewind-target.js';
import type { MemorySession } from '../session.js';
import { formatNextRunId, isNewestRun, startRun, toRunRecord } from '../start-run.js';

/** Takes the session back to a checkpoint or to the beginning of a turn, and makes the run that goes on there. */
export function rewind(session: MemorySession, input: RewindInput): RewindResult {
  const { identity, run, log } = session;
  const { nonce, mode, by, now } = input;
  if (identity === undefined || run === undefined) return { kind: 'not_found' };
  if (isNewestRun(session, nonce)) return { kind: 'rewound', run: toRunRecord(session, run) };
  if (!isTerminal(run.status)) return { kind: 'busy', runId: run.runId };
  if (run.runId !== input.runId) return { kind: 'stale_run', runId: run.runId };
  const rows = session.rows.map(fromJson);
  const checkpoints = session.checkpoints.map(fromJson);
  const target = findTarget(session, rows, checkpoints, input);
  if ('kind' in target) return target;

  const { turn, kept, sequence, step } = target;
  const edited = (mode === 'retry' ? input.messages : undefined) ?? [];
  const taken = edited.find(({ id }) => staysOf(session, rows.slice(target.keep), id));
  if (taken !== undefined) return { kind: 'conflict', messageId: taken.id };
  const shown = shownBefore(rows, target);
  dropRows(session, rows, target.keep, new Set(shown));
  markRuns(session, turn.row, mode === 'retry');
  restoreState(session, checkpoints, target);
  dropStaged(session, rows.slice(0, target.keep));
  session.checkpoints.splice(kept);
  session.checkpointId = checkpoints[kept - 1]?.id;
  removeEntries(log, sequence, () => true);
  session.isRewound = true;
  identity.born = nonce;
  for (const { id, hash } of edited) session.accepted.set(id, hash);
  storeMessages(session, edited);

  const who = { agentId: session.id, agentType: identity.agent, step, now };
  writeOwn(session, who, 'stream_resync', {
    checkpointId: session.checkpointId ?? '',
    stepCount: step,
    messageCount: target.keep + edited.length,
    fromSequence: log.sequence,
    reason: mode === 'retry' ? 'retry' : 'rollback',
  });
  const runSequence = log.sequence;
  if (mode === 'from_checkpoint') {
    writeOwn(session, who, 'run_resumed', {
      runId: formatNextRunId(session, nonce),
      fromCheckpointId: session.checkpointId ?? null,
      fromStepCount: step,
      mode,
    });
  }
  const next = startRun(session, {
    nonce,
    mode,
    by,
    turn: turn.turn,
    startRow: turn.row,
    messageId:
      mode === 'retry'
        ? `msg-${String(session.visibleMessages)}`
        : (turn.messageId ?? shown[0] ?? ''),
    startSequence: mode === 'retry' ? runSequence : turn.sequence,
    runSequence,
    fromStep: step,
    hasReplied: shown.length > 0,
    startedAt: now,
  });
  return { kind: 'rewound', run: toRunRecord(session, next) };
}

/** True for an accepted message that is not among the dropped rows. */
function staysOf({ accepted }: MemorySession, dropped: readonly Row[], id: string): boolean {
  return accepted.has(id) && !dropped.some((row) => idOf(row) === id);
}

/** Ids of the replies that stay of the turn. */
function shownBefore(rows: readonly Row[], { turn, keep }: RewindTarget): string[] {
  return rows
    .slice(turn.row, keep)
    .flatMap((row) => (row.role === 'assistant' ? row.messageId : []));
}

function dropRows(
  session: MemorySession,
  rows: readonly Row[],
  keep: number,
  shown: Set<string>,
): void {
  for (const row of rows.slice(keep)) {
    if (row.role === 'user') {
      session.accepted.delete(row.id);
      if (row.hidden !== true) session.visibleMessages -= 1;
    } else if (row.role === 'assistant' && !shown.has(row.messageId)) {
      shown.add(row.messageId);
      session.visibleMessages -= 1;
    } else if (row.role === 'tool') {
      forgetLapsed(session, row.toolCallId);
    }
  }
  session.rows.splice(keep);
}

/** What waits to be told of a call that is dropped, and what a late answer to it would be measured by. */
function forgetLapsed({ lapsed, notices }: MemorySession, toolCallId: string): void {
  lapsed.delete(toolCallId);
  const isOther = (json: Json<Row>): boolean => idOf(fromJson(json)) !== `late-${toolCallId}`;
  notices.splice(0, Infinity, ...notices.filter(isOther));
}

function idOf(row: Row): string | undefined {
  return row.role === 'user' ? row.id : undefined;
}

/** Runs of turns that were taken back stay on the list, and say so. */
function markRuns({ endedRuns }: MemorySession, row: number, withTurn: boolean): void {
  for (const [at, json] of endedRuns.entries()) {
    const info = fromJson(json);
    const { startRow } = info;
    if (startRow > row || (startRow === row && withTurn)) {
      endedRuns[at] = toJson({ ...info, rewound: true });
    }
  }
}

/** The state that the first dropped step was asked with, under a version of its own. */
function restoreState(
  session: MemorySession,
  checkpoints: readonly Checkpoint[],
  { turn, kept }: RewindTarget,
): void {
  const { states } = session;
  const named = new Set(checkpoints.slice(0, kept).map(({ stateVersion }) => stateVersion));
  const dropped = checkpoints.slice(kept).map(({ stateVersion }) => stateVersion);
  dropped.push(session.stateVersion);
  const wanted = checkpoints[kept]?.stateVersion ?? session.stateVersion;
  if (wanted !== session.stateVersion) {
    session.stateVersion += 1;
    states.set(session.stateVersion, states.get(wanted) ?? toJson({}));
  }
  for (const version of dropped) {
    if (!named.has(version) && version !== session.stateVersion) states.delete(version);
  }
  session.checkpointVersion = checkpoints[kept - 1]?.stateVersion ?? 0;
  const first = checkpoints.slice(0, kept).find(({ messageCount }) => messageCount > turn.row);
  session.turnState = first && { turn: turn.turn, version: first.stateVersion };
}

/** Changes that no step has taken in yet stay if their calls do. */
function dropStaged({ staged }: MemorySession, rows: readonly Row[]): void {
  const calls = new Set(rows.flatMap((row) => (row.role === 'tool' ? row.toolCallId : [])));
  for (const key of staged.keys()) {
    if (!calls.has(key.slice(key.indexOf('/') + 1))) staged.delete(key);
  }
}
