import { createHash, randomUUID } from 'node:crypto';
import { type Actor, toActingPerson, type KnownPerson } from '../protocol/actor.js';
import { HelixError, type ErrorCode } from '../protocol/errors.js';
import { formatReplyId, isOfNonce, runNumberOf, toShownSessionId } from '../protocol/ids.js';
import type { AssistantRow, Row } from '../protocol/rows.js';
import { beginsTurn } from '../session/branch.js';
import type { CustomState } from '../store/contract/documents.js';
import type { RunInfo } from '../store/contract/runs.js';
import type { BranchInput as CopyInput, SessionRecord } from '../store/contract/sessions.js';
import type { Store } from '../store/contract/store.js';
import { toStoredSessionId } from '../store/record/stored-session-id.js';
import { toUserMessage } from '../store/record/user-message.js';
import { toAct } from './record/acts.js';
import { isUncontinued } from './record/newest-run.js';
import { FIRST_SWEEP_MS, newNonce, type RunsCore } from './deps.js';
import { refusal, requireStoredId } from './refusals.js';
import type { AdoptInput, BranchInput, ForkInput, Runs } from './runs.js';
import { copyFiles, type Uploads } from './uploads.js';

const PAGE = 100;

/** Copies a conversation. `fork` leaves the copy's turn open after a step, to be resumed there. */
export type Branching = (
  input: BranchInput & { fork?: { runId: string; step: number }; nonce?: string },
) => Promise<{ sessionId: string }>;

/** Copies conversations. It reads the source in several steps; rows only grow, so none is lost. */
export function createBranch(
  store: Pick<Store, 'sessions' | 'runs' | 'checkpoints' | 'documents' | 'due' | 'files'>,
  uploads: Uploads,
): Branching {
  const { sessions, runs, checkpoints, documents, due } = store;
  return async (input) => {
    const { sessionId, by, nonce = newNonce() } = input;
    const record = await sessions.read(sessionId);
    if (record === undefined) throw refusal('not_found');
    const newSessionId =
      input.newSessionId ?? toStoredSessionId(`s-${randomUUID()}`, record.tenant);
    const chosen = await chooseRows(input);
    if (chosen.length === 0) {
      throw new HelixError('nothing_to_do', 'There is nothing to copy yet.');
    }
    const state = await stateAfter(sessionId, chosen.length);
    const { agent, owner, tenant } = record;
    const asker = toActingPerson(input, tenant);
    const askers = await askersOf(sessionId, chosen, asker);
    if ((await sessions.read(newSessionId)) !== undefined) throw refusal('session_exists');
    const copy = { from: sessionId, to: newSessionId, owner: { owner, tenant }, rows: chosen };
    const { rows, ids } = await copyFiles(store, uploads.upload, copy);
    const detail = { from: toShownSessionId(sessionId) };
    await due.note(newSessionId, FIRST_SWEEP_MS);
    const { kind } = await sessions.branch({
      sessionId: newSessionId,
      agent,
      owner,
      tenant,
      nonce,
      by,
      askers,
      rows: [...rows],
      ...describeRows(rows),
      isOpen: input.fork !== undefined,
      state,
      now: Date.now(),
      act: toAct('branch', input, { tenant, detail }),
    });
    if (kind === 'exists') {
      for (const id of ids) await uploads.removeFile(newSessionId, id);
      throw refusal('session_exists');
    }
    return { sessionId: newSessionId };
  };

  async function chooseRows(input: Parameters<Branching>[0]): Promise<readonly Row[]> {
    const { sessionId, checkpointId, messageIndex, fork, meter } = input;
    const rows = await sessions.rows(sessionId, 0, undefined, meter);
    if (fork !== undefined) {
      return rowsUpTo(rows, await runs.list(sessionId), fork);
    }
    if (checkpointId !== undefined) {
      const checkpoint = await checkpoints.get(sessionId, checkpointId);
      if (checkpoint === null) throw refusal('checkpoint_not_found');
      return withoutOpenCalls(rows.slice(0, endOfStep(rows, checkpoint.messageCount)));
    }
    const end = messageIndex === undefined ? rows.length : endOfMessage(rows, messageIndex);
    if (end === undefined) throw refusal('message_not_found');
    return withoutOpenCalls(rows.slice(0, end));
  }

  /** Returns the askers of each turn: those of the source, and the copier. */
  async function askersOf(
    sessionId: string,
    rows: readonly Row[],
    copier: KnownPerson | undefined,
  ): Promise<KnownPerson[][]> {
    const ids = rows.flatMap((row) => (row.role === 'user' ? row.id : []));
    const found = await sessions.askers(sessionId, ids);
    const known = new Map(ids.map((id, at) => [id, found[at] ?? []]));
    const turns: KnownPerson[][] = [];
    for (const [at, row] of rows.entries()) {
      if (row.role !== 'user') continue;
      if (beginsTurn(rows, at)) turns.push([]);
      turns.at(-1)?.push(...(known.get(row.id) ?? []));
    }
    return turns.map((all) => [...all, ...(copier ? [copier] : [])]);
  }

  /** Reads the agent's state after this many rows, with which the next step began. */
  async function stateAfter(sessionId: string, count: number): Promise<CustomState | undefined> {
    let next: string | undefined;
    let cursor: string | undefined;
    do {
      const page = await checkpoints.list(sessionId, { limit: PAGE, cursor });
      const later = page.checkpoints.filter(({ messageCount }) => messageCount > count);
      next = later.at(-1)?.id ?? next;
      cursor = later.length < page.checkpoints.length ? undefined : page.cursor;
    } while (cursor !== undefined);
    const found = next === undefined ? undefined : await checkpoints.get(sessionId, next);
    const { customState } = found ?? (await documents.readState(sessionId));
    return Object.keys(customState).length === 0 ? undefined : customState;
  }
}

/** Counts the rows up to and including a message, by its index among visible messages. Pure. */
export function endOfMessage(rows: readonly Row[], index: number): number | undefined {
  const starts = messageStarts(rows);
  if (starts.length <= index) return undefined;
  let end = starts[index + 1] ?? rows.length;
  // Hidden rows, which only the model reads, belong to the message after them.
  while (isHidden(rows[end - 1])) end -= 1;
  return end;
}

/** Describes the newest turn of these rows, the visible messages and the accepted ones. */
function describeRows(
  rows: readonly Row[],
): Pick<CopyInput, 'turn' | 'visibleMessages' | 'messages'> {
  const visibleMessages = messageStarts(rows).length;
  const begins = rows.flatMap((_, n) => (beginsTurn(rows, n) ? n : []));
  const row = begins.at(-1) ?? 0;
  const last = rows.slice(row).findLast((each) => each.role === 'assistant');
  const messageId = last?.messageId ?? formatReplyId(visibleMessages);
  const turn = Math.max(1, begins.length);
  return {
    turn: { turn, row, messageId, step: last?.step ?? 0, hasReplied: last !== undefined },
    visibleMessages,
    messages: rows.flatMap((row) => {
      if (row.role !== 'user') return [];
      const { id, hash } = toUserMessage(row);
      return { id, hash };
    }),
  };
}

/** Returns the rows at which visible messages begin. */
function messageStarts(rows: readonly Row[]): number[] {
  const replies = new Set<string>();
  return rows.flatMap((row, at) => {
    if (row.role === 'tool') return [];
    if (row.role === 'user') return row.hidden === true ? [] : at;
    if (replies.has(row.messageId)) return [];
    replies.add(row.messageId);
    return at;
  });
}

function isHidden(row: Row | undefined): boolean {
  return row?.role === 'user' && row.hidden === true;
}

/** Begins idle conversations with transcripts that were made elsewhere. */
export function createAdopt({
  sessions,
  due,
}: Pick<Store, 'sessions' | 'due'>): (input: AdoptInput) => Promise<boolean> {
  return async ({ rows, ...whose }) => {
    requireStoredId(whose.sessionId);
    await due.note(whose.sessionId, FIRST_SWEEP_MS);
    const { kind } = await sessions.branch({
      ...whose,
      rows,
      nonce: newNonce(),
      now: Date.now(),
      ...describeRows(rows),
    });
    return kind === 'branched';
  };
}

/**
 * Returns the rows up to and including a step of the turn that a run worked on, with the step's
 * results. Step 0 is the beginning of the turn. Pure.
 *
 * @param runs all runs of the session
 * @throws HelixError `not_found` for a run that the transcript no longer has, `checkpoint_not_found`
 * for a step that was not committed, `not_resumable` for one whose calls do not all have results yet,
 * `nothing_to_do` if the turn was complete with it
 */
function rowsUpTo(
  rows: readonly Row[],
  runs: readonly RunInfo[],
  { runId, step }: { runId: string; step: number },
): readonly Row[] {
  const run = runs.find((each) => each.runId === runId && each.rewound !== true);
  if (run === undefined) throw new HelixError('not_found', 'There is no such run any more.');
  // Further runs continued an interrupted turn.
  const ofTurn = runs.filter(({ turn, rewound }) => turn === run.turn && rewound !== true);
  const later = runs.filter(({ turn, rewound }) => turn > run.turn && rewound !== true);
  const end = Math.min(rows.length, ...later.map(({ startRow }) => startRow));
  const steps = rows.slice(0, end).flatMap((row, at) => {
    // A run that was steered has steps of earlier turns, too.
    const isOfRun = isStep(row) && (at >= run.startRow || row.runId === runId);
    return isOfRun ? [{ at, step: row.step }] : [];
  });
  if (step === 0) return rows.slice(0, steps.find(({ at }) => at >= run.startRow)?.at ?? end);
  const found = steps.findLast((each) => each.step === step);
  if (found === undefined) {
    throw new HelixError('checkpoint_not_found', 'This run has committed no such step.');
  }
  const isLast = steps.every((each) => each.at <= found.at);
  if (isLast && ofTurn.some(({ status }) => status === 'completed')) {
    throw new HelixError(
      'nothing_to_do',
      'The turn was complete with this step: name an earlier one.',
    );
  }
  const upTo = rows.slice(0, endOfStep(rows, found.at + 1));
  // A copy without this step would repeat its calls, also those that are done.
  if (withoutOpenCalls(upTo).length < upTo.length) {
    throw new HelixError(
      'not_resumable',
      'Calls of this step have no results yet: name an earlier step.',
    );
  }
  return upTo;
}

/** Counts the rows up to and including the results of a committed step, and its questions to people. */
export function endOfStep(rows: readonly Row[], messageCount: number): number {
  let end = messageCount;
  for (;;) {
    const row = rows[end];
    const isResult = row?.role === 'tool' || (row?.role === 'assistant' && row.display === true);
    if (!isResult) return end;
    end += 1;
  }
}

/** Drops a last step whose calls have no results yet. */
function withoutOpenCalls(rows: readonly Row[]): readonly Row[] {
  const settled = new Set(rows.flatMap((row) => (row.role === 'tool' ? row.toolCallId : [])));
  // Questions of sub-agents, in rows of their own, may have answers before the step's calls have results.
  const last = rows.findLast(isStep);
  const isOpen = last?.parts.some(
    (part) =>
      part.type === 'tool-call' && part.kind !== 'provider' && !settled.has(part.toolCallId),
  );
  return isOpen === true ? rows.slice(0, rows.findLastIndex(isStep)) : rows;
}

function isStep(row: Row): row is AssistantRow {
  return row.role === 'assistant' && row.display !== true;
}

export interface Forking extends Pick<Runs, 'fork'> {
  /** Continues a fork's copy whose process died before it did so; false while it may not run. */
  continueCopy: (record: SessionRecord) => Promise<boolean>;
}

/** Refusals that pass with time. */
const PASSES = new Set<ErrorCode>(['quota_exceeded', 'budget_exceeded']);

/**
 * Forks a run: copies the conversation, then resumes the copy. If the process dies in between, the
 * sweeper continues the copy, and so does a repeat of the request with its key.
 */
export function createForks({
  store: { sessions, runs },
  logger,
  branch,
  resume,
  deleteSession,
}: RunsCore & Pick<Runs, 'resume' | 'deleteSession'> & { branch: Branching }): Forking {
  async function resumeCopy(
    { sessionId, runId }: Pick<SessionRecord, 'sessionId' | 'runId'>,
    actor: Actor & Pick<ForkInput, 'reason'>,
  ): Promise<string> {
    const result = await resume({ sessionId, runId, mode: 'with_confirmation', ...actor });
    return result.kind === 'resumed' ? result.run.runId : result.runId;
  }

  /**
   * Erases a copy whose run was refused, since its id would be taken for a repeat; rethrows the
   * refusal. Returns the run of a copy that was continued after all.
   */
  async function dropRefused(
    sessionId: string,
    actor: Actor & Pick<ForkInput, 'reason'>,
    error: unknown,
  ): Promise<string> {
    // After an outage the run may have begun; the sweeper checks.
    if (!HelixError.isInstance(error) || error.code === 'unavailable') throw error;
    const record = await sessions.read(sessionId);
    if (record !== undefined && !isUncontinued(record)) return record.runId;
    await deleteSession(sessionId, actor).catch((err: unknown) => {
      logger.warn({ err, sessionId }, 'a copy without a run is left');
    });
    throw error;
  }

  return {
    fork: async ({ key, runId, step, reason, ...copy }) => {
      const { newSessionId, by, roles, via } = copy;
      const nonce = key === undefined ? newNonce() : toNonce(key, step);
      let made = await sessions.read(newSessionId);
      if (made === undefined || !(await isCopyOf(made, nonce))) {
        await branch({ ...copy, fork: { runId, step }, nonce });
        made = await sessions.read(newSessionId);
      }
      if (made === undefined) throw new HelixError('not_found', 'The copy was erased.');
      const actor = { by, roles, via, reason };
      if (!isUncontinued(made)) return { sessionId: newSessionId, runId: made.runId };
      const begun = await resumeCopy(made, actor).catch((error: unknown) =>
        // The client gets the refusal and may retry.
        dropRefused(newSessionId, actor, error),
      );
      return { sessionId: newSessionId, runId: begun };
    },
    continueCopy: async (record) => {
      const actor = { by: record.runBy, via: 'auto' } as const;
      try {
        await resumeCopy(record, actor);
        return true;
      } catch (error) {
        // No client gets this refusal, and it passes when other runs of the owner end.
        if (HelixError.isInstance(error) && PASSES.has(error.code)) return false;
        await dropRefused(record.sessionId, actor, error);
        return true;
      }
    },
  };

  async function isCopyOf({ sessionId }: SessionRecord, nonce: string): Promise<boolean> {
    const [first] = await runs.list(sessionId);
    return first !== undefined && runNumberOf(first.runId) === 0 && isOfNonce(first.runId, nonce);
  }
}

/** Derives the nonce, so that a repeated request makes the same copy. */
function toNonce(key: string, step: number): string {
  return createHash('sha256')
    .update(JSON.stringify([key, step]))
    .digest('hex')
    .slice(0, newNonce().length);
}
