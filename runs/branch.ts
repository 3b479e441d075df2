import { randomUUID } from 'node:crypto';
import { HelixError } from '../protocol/errors.js';
import { formatFileUrl, madeFileOf, parseFileUrl } from '../protocol/file-reference.js';
import { toShownSessionId } from '../protocol/ids.js';
import { toActingPerson, type KnownPerson } from '../protocol/responder.js';
import type { AssistantPart, Row, UserPart } from '../protocol/rows.js';
import type { CustomState } from '../store/contract/documents.js';
import type { StoredFile } from '../store/contract/files.js';
import type { RunInfo } from '../store/contract/runs.js';
import type { BranchInput as CopyInput } from '../store/contract/sessions.js';
import type { Store } from '../store/contract/store.js';
import type { SessionOwner } from '../store/contract/waiting.js';
import { toAct } from './record/acts.js';
import { toStoredSessionId } from '../store/record/stored-session-id.js';
import { beginsTurn } from '../session/copy.js';
import { toUserMessage } from '../store/record/user-message.js';
import { FIRST_SWEEP_MS, newNonce } from './starts.js';
import type { AdoptInput, BranchInput } from './runs.js';
import type { UploadInput, Uploads } from './uploads.js';
import {
  notFound,
  noSuchCheckpoint,
  noSuchMessage,
  sessionExists,
  requireStoredId,
} from './refusals.js';

const PAGE = 100;

/** Copies a conversation. `fork` leaves the copy's turn open after a step, to be resumed there. */
export type Branching = (
  input: BranchInput & { fork?: { runId: string; step: number }; nonce?: string },
) => Promise<{ sessionId: string }>;

/** Copies conversations. It reads the source in several steps; rows only grow, so none is lost. */
export function createBranch(
  store: Pick<Store, 'sessions' | 'runs' | 'checkpoints' | 'documents' | 'due' | 'files'>,
  uploads?: Uploads,
): Branching {
  const { sessions, runs, checkpoints, documents, due } = store;
  return async (input) => {
    const { sessionId, by, roles, via } = input;
    const { nonce = newNonce() } = input;
    const record = await sessions.read(sessionId);
    if (record === undefined) throw notFound();
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
      if (checkpoint === null) throw noSuchCheckpoint();
      return withoutOpenCalls(rows.slice(0, endOfStep(rows, checkpoint.messageCount)));
    }
    const end = messageIndex === undefined ? rows.length : endOfMessage(rows, messageIndex);
    if (end === undefined) throw noSuchMessage();
    return withoutOpenCalls(rows.slice(0, end));
  }

  /** Returns the askers of each turn: those of the source, and the copier. */
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

/** Describes the newest turn of these rows, the visible messages and the accepted ones. */
function describeRows(
  rows: readonly Row[],
): Pick<CopyInput, 'turn' | 'visibleMessages' | 'messages'> {
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
    messages: rows.flatMap((row) => {
      if (row.role !== 'user') return [];
      const { id, hash } = toUserMessage(row);
      return { id, hash };
    }),
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
    const isStep = row.role === 'assistant' && row.display !== true;
    return at >= run.startRow && isStep ? [{ at, step: row.step }] : [];
  });
  if (step === 0) return rows.slice(0, steps[0]?.at ?? end);
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

/** Counts the rows up to and including the results of a committed step. */
function endOfStep(rows: readonly Row[], messageCount: number): number {
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
  const at = rows.findLastIndex(({ role }) => role === 'assistant');
  const last = rows[at];
  const isOpen =
    last?.role === 'assistant' &&
    last.parts.some(
      (part) =>
        part.type === 'tool-call' && part.kind !== 'provider' && !settled.has(part.toolCallId),
    );
  return isOpen ? withoutOpenCalls(rows.slice(0, at)) : rows;
}

export interface FileCopy {
  from: string;
  to: string;
  owner: SessionOwner;
  rows: readonly Row[];
}

export interface CopiedFiles {
  /** The rows, with the names of the copies. */
  rows: readonly Row[];
  ids: readonly string[];
}

type Upload = (input: UploadInput) => Promise<StoredFile>;

/**
 * Copies the files that rows name, since each conversation is erased with its own files. Names of
 * files that no longer exist stay.
 *
 * @throws HelixError what `upload` throws
 */
async function copyFiles(
  { files }: Pick<Store, 'files'>,
  upload: Upload | undefined,
  { from, to, owner, rows }: FileCopy,
): Promise<CopiedFiles> {
  if (upload === undefined) return { rows, ids: [] };
  const copies = new Map<string, string>();
  const ids: string[] = [];
  for (const url of new Set(rows.flatMap(urlsOf))) {
    const reference = parseFileUrl(url);
    if (reference?.sessionId !== toShownSessionId(from)) continue;
    const file = await files.read(from, reference.fileId);
    const content = file && (await files.content(from, file.id, { from: 0, to: file.bytes }));
    if (file === undefined || content === undefined) continue;
    const { mediaType, filename } = file;
    const copy = await upload({ ...owner, sessionId: to, mediaType, filename, content }).catch(
      (error: unknown) => {
        // Another owner has files under that id.
        throw isForeign(error) ? sessionExists() : error;
      },
    );
    ids.push(copy.id);
    copies.set(url, formatFileUrl({ sessionId: toShownSessionId(to), fileId: copy.id }));
  }
  return { rows: copies.size === 0 ? rows : rows.map((row) => rename(row, copies)), ids };
}

function urlsOf(row: Row): string[] {
  if (row.role === 'user')
    return row.parts.flatMap((part) => (part.type === 'file' ? part.url : []));
  return row.role === 'tool' ? [] : row.parts.flatMap(madeFileOf).map(({ url }) => url);
}

function rename(row: Row, copies: ReadonlyMap<string, string>): Row {
  if (row.role === 'tool') return row;
  if (row.role === 'user') return { ...row, parts: row.parts.map((part) => renamed(part, copies)) };
  const parts = row.parts.map((part): AssistantPart => {
    if (part.type !== 'reasoning' || part.stands?.type !== 'reasoning-file') {
      return renamed(part, copies);
    }
    const url = copies.get(part.stands.url);
    return url === undefined ? part : { ...part, stands: { ...part.stands, url } };
  });
  return { ...row, parts };
}

function renamed<Part extends UserPart | AssistantPart>(
  part: Part,
  copies: ReadonlyMap<string, string>,
): Part {
  const url = part.type === 'file' ? copies.get(part.url) : undefined;
  return url === undefined ? part : { ...part, url };
}

function isForeign(error: unknown): boolean {
  return HelixError.isInstance(error) && error.code === 'not_found';
}
