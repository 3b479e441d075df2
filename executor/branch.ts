import { randomUUID } from 'node:crypto';
import { HelixError } from '../protocol/errors.js';
import { isStoredSessionId, toShownSessionId } from '../protocol/ids.js';
import { toActingPerson, type KnownPerson } from '../protocol/responder.js';
import type { Row } from '../protocol/rows.js';
import type { CustomState } from '../stores/contract/custom-state.js';
import type { BranchInput as CopyInput } from '../stores/contract/sessions.js';
import type { Store } from '../stores/contract/store.js';
import { toAct } from '../stores/record/acts.js';
import { toStoredSessionId } from '../stores/record/stored-session-id.js';
import { beginsTurn, toUserMessage } from '../stores/record/user-message.js';
import { endOfStep, rowsUpTo, withoutOpenCalls } from './fork-rows.js';
import { FIRST_SWEEP_MS, newNonce } from './reruns.js';
import { copyFiles } from './copy-files.js';
import type { AdoptInput, BranchInput } from './runs.js';
import type { Uploads } from './uploads.js';

const PAGE = 100;

/** How a conversation is copied: `fork` leaves the copy's turn open after a step, to be resumed there. */
export type Branching = (
  input: BranchInput & { fork?: { runId: string; step: number }; nonce?: string },
) => Promise<{ sessionId: string }>;

/** Copies conversations. The source is read in several steps; rows only grow, so none is lost. */
export function createBranch(
  store: Pick<Store, 'sessions' | 'runs' | 'checkpoints' | 'documents' | 'due' | 'files'>,
  uploads?: Uploads,
): Branching {
  const { sessions, runs, checkpoints, documents, due } = store;
  return async (input) => {
    const { sessionId, by, roles, via } = input;
    const { nonce = newNonce() } = input;
    const record = await sessions.read(sessionId);
    if (record === undefined) {
      throw new HelixError('not_found', 'There is no such conversation.');
    }
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
    if ((await sessions.read(newSessionId)) !== undefined) throw sessionExists();
    const whose = { owner, ...(tenant !== undefined && { tenant }) };
    const copy = { from: sessionId, to: newSessionId, owner: whose, rows: chosen };
    const { rows, ids } = await copyFiles(store, uploads?.upload, copy);
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
      messages: rows.flatMap((row) => {
        if (row.role !== 'user') return [];
        const { id, hash } = toUserMessage(row);
        return { id, hash };
      }),
      ...describeRows(rows),
      isOpen: input.fork !== undefined,
      state,
      now: Date.now(),
      act: toAct('branch', { by, roles, via }, { tenant, detail }),
    });
    if (kind === 'exists') {
      for (const id of ids) await uploads?.removeFile(newSessionId, id);
      throw sessionExists();
    }
    return { sessionId: newSessionId };
  };

  async function chooseRows({
    sessionId,
    checkpointId,
    messageIndex,
    fork,
    meter,
  }: Parameters<Branching>[0]): Promise<readonly Row[]> {
    const rows = await sessions.rows(sessionId, 0, undefined, meter);
    if (fork !== undefined) {
      return rowsUpTo(rows, await runs.list(sessionId), fork);
    }
    if (checkpointId !== undefined) {
      const checkpoint = await checkpoints.get(sessionId, checkpointId);
      if (checkpoint === null) {
        throw new HelixError('checkpoint_not_found', 'This conversation has no such checkpoint.');
      }
      return withoutOpenCalls(rows.slice(0, endOfStep(rows, checkpoint.messageCount)));
    }
    const end = messageIndex === undefined ? rows.length : endOfMessage(rows, messageIndex);
    if (end === undefined) {
      throw new HelixError('message_not_found', 'This conversation has no such message.');
    }
    return withoutOpenCalls(rows.slice(0, end));
  }

  /** Who asks by each turn: those of the source, and who copies it. */
  async function askersOf(
    sessionId: string,
    rows: readonly Row[],
    copier: KnownPerson | undefined,
  ): Promise<KnownPerson[][]> {
    const ids = rows.flatMap((row) => (row.role === 'user' ? row.id : []));
    const known = new Map<string, readonly KnownPerson[]>();
    const found = await sessions.askers(sessionId, ids);
    for (const [at, id] of ids.entries()) known.set(id, found[at] ?? []);
    const turns: KnownPerson[][] = [];
    for (const [at, row] of rows.entries()) {
      if (row.role !== 'user') continue;
      if (beginsTurn(rows, at)) turns.push([]);
      turns.at(-1)?.push(...(known.get(row.id) ?? []));
    }
    return turns.map((all) => [...all, ...(copier ? [copier] : [])]);
  }

  /** The agent's own state after this many rows: the state that the next step began with. */
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

function sessionExists(): HelixError {
  return new HelixError('session_exists', 'A conversation with that id exists already.');
}

/** Number of rows up to and including a message, by its index among those that people see. Pure. */
export function endOfMessage(rows: readonly Row[], index: number): number | undefined {
  const replies = new Set<string>();
  let at = -1;
  let end = rows.length;
  for (const [n, row] of rows.entries()) {
    if (!beginsMessage(row, replies)) continue;
    at += 1;
    if (at > index) {
      end = n;
      break;
    }
  }
  if (at < index) return undefined;
  // Hidden rows, which only the model reads, belong to the message after them.
  while (isHidden(rows[end - 1])) end -= 1;
  return end;
}

/** The newest turn of these rows, and how many messages people see. */
function describeRows(rows: readonly Row[]): Pick<CopyInput, 'turn' | 'visibleMessages'> {
  const replies = new Set<string>();
  const visibleMessages = rows.filter((row) => beginsMessage(row, replies)).length;
  const begins = rows.flatMap((_, n) => (beginsTurn(rows, n) ? n : []));
  const row = begins.at(-1) ?? 0;
  const last = rows.slice(row).findLast((each) => each.role === 'assistant');
  const messageId = last?.messageId ?? `msg-${String(visibleMessages)}`;
  const turn = Math.max(1, begins.length);
  return {
    turn: { turn, row, messageId, step: last?.step ?? 0, hasReplied: last !== undefined },
    visibleMessages,
  };
}

function beginsMessage(row: Row, replies: Set<string>): boolean {
  if (row.role === 'tool') return false;
  if (row.role === 'user') return row.hidden !== true;
  const isNew = !replies.has(row.messageId);
  replies.add(row.messageId);
  return isNew;
}

function isHidden(row: Row | undefined): boolean {
  return row?.role === 'user' && row.hidden === true;
}

/** Begins idle conversations with rows that were made elsewhere. */
export function createAdopt({
  sessions,
  due,
}: Pick<Store, 'sessions' | 'due'>): (input: AdoptInput) => Promise<boolean> {
  return async ({ rows, ...whose }) => {
    if (!isStoredSessionId(whose.sessionId)) {
      throw new HelixError('validation_error', 'The session id must match [A-Za-z0-9_-]{1,128}.');
    }
    await due.note(whose.sessionId, FIRST_SWEEP_MS);
    const { kind } = await sessions.branch({
      ...whose,
      rows,
      nonce: newNonce(),
      now: Date.now(),
      messages: rows.flatMap((row) => {
        if (row.role !== 'user') return [];
        const { id, hash } = toUserMessage(row);
        return { id, hash };
      }),
      ...describeRows(rows),
    });
    return kind === 'branched';
  };
}
