import { byteLength, redis } from './lib/host.js';
import { ownWriter, writeDiscard, withdraw, type Owner } from './lib/attempts.js';
import { countLost, isExhausted, type Budget } from './lib/budget.js';
import { isUnsettled, readCalls } from './lib/calls.js';
import { field, int, text } from './lib/json.js';
import { closeLog, openLog } from './lib/log.js';
import { doneOrSuperseded } from './lib/outcome.js';
import { noteEndOfStep } from './lib/places.js';
import { takeSteering } from './lib/queue.js';
import { MORE, only } from './lib/request.js';
import {
  dropFields,
  isPaused,
  isTerminal,
  num,
  readField,
  readRoot,
  seqOf,
  setFields,
  storeNow,
} from './lib/root.js';
import { idOf, isConversation, type Session } from './lib/session.js';
import { addNotices, addResults } from './lib/settling.js';
import { readStoredState } from './lib/stored-state.js';
import { addUsage, usageJson } from './lib/usage.js';

export interface ClaimRequest {
  runId: string;
  /** Of the writer. */
  name: string;
  token: number;
  agentType: string;
  step: number;
  /** Number of the run within its session. */
  runN: number;
  /** Highest sequence that the run has seen. */
  known: number;
  now: number;
  /** How attempts before this one are counted; absent for the first one. */
  lost?: Lost;
  /** What the caller needs of the session besides. */
  wants?: Wanted;
}

interface Wanted {
  /** The agent's own state. */
  state: boolean;
  /** Rows of the transcript that the caller has, of a session born then. */
  born: string;
  rows: number;
}

/**
 * More rows or bytes than this are read by the caller, so that no claim of a long transcript blocks
 * Redis.
 */
const MOST_ROWS = 100;
const MOST_BYTES = 1024 * 1024;
/** Rows that are read before their bytes are counted. */
const ROWS_AT_ONCE = 10;

interface Lost {
  budget: Budget;
  /** Price of an output token in millionths of a dollar; 0 if unknown. */
  perToken: number;
}

/** Estimated bytes per token: the provider never reported the usage of a lost attempt. */
const BYTES_PER_TOKEN = 4;

export const CLAIM_FIELDS = [
  'layout',
  'run',
  'status',
  'seq',
  'committed',
  'turn',
  'messageId',
  'born',
  'usage',
  'replied',
  'askers',
  'checkpoint',
  'stop',
  'rewound',
  'waitsUntil',
  'started',
  'stateV',
] as const;

/**
 * claim: makes an attempt the owner of its step's model writer. It withdraws what earlier attempts
 * wrote, takes results, late notes and steering messages into the transcript, and returns all that
 * the step needs.
 *
 * Checks, in this order: the step is committed (returns its outcome) · the store is older than what
 * the run has seen · the run is active and the newest · stop record · fence (a higher token owns
 * the writer) · this is the next step · all calls of the step before are settled · budget of lost
 * attempts.
 *
 * @returns `claimed` with the number of rows, the sequence and what is known of provider failures,
 * followed by what the caller wants besides ·
 * `done` or `superseded` · `rewound` · `stopped` · `fenced` · `not_ready` · `exhausted` · `more`,
 * send the request again
 */
export function claim(session: Session, request: ClaimRequest): string | unknown[] {
  const { runId, name, token, step, known, now, lost } = request;
  const root = readRoot(session, CLAIM_FIELDS);
  const seq = seqOf(session);
  const committed = num(root.committed);
  if (root.run === runId && committed >= step) return doneOrSuperseded(session);
  if (num(seq) < known) return only('rewound');
  if (root.run !== runId) {
    return only(num(readField(session, 'runN')) < request.runN ? 'rewound' : 'superseded');
  }
  if (isTerminal(root.status)) return only('superseded');
  if (root.stop !== undefined) return `{"kind":"stopped","stop":${root.stop}}`;
  const { owner, failing } = readAttempts(session, name, step);
  if (owner.token > token) return only('fenced');
  if (committed !== step - 1) return only('rewound');
  // A sub-agent continues together with the others once the conversation is no longer paused.
  const calls = readCalls(session, ['state']);
  if (isUnsettled(calls) || (!isConversation(session) && isPaused(session))) {
    return only('not_ready');
  }
  const taken = owner.token > 0 && owner.token < token ? lost : undefined;
  if (taken !== undefined && isExhausted(session, name, owner.token, taken.budget)) {
    return only('exhausted');
  }
  const log = openLog(session, seq);
  if (owner.token < token || owner.isWithdrawing) {
    const speaker = { agentId: idOf(session), agentType: request.agentType, step, now };
    const spoken = { bytes: 0 };
    const before = owner.token > 0 ? withdraw(session, name, token, spoken) : { removed: false };
    if (taken !== undefined) countLost(session, name, owner.token, taken.budget);
    addSpoken(session, spoken.bytes, lost?.perToken ?? 0);
    if (before === undefined) return MORE;
    noteEndOfStep(session, root.checkpoint, log.seq);
    if (calls.length > 0) addResults(session);
    addNotices(session);
    if (owner.token > 0) {
      writeDiscard(session, root, log, speaker, 'attempt_lost', before.removed);
    } else {
      takeSteering(session, root, log, speaker);
    }
    closeLog(log);
    ownWriter(session, name, token, log.seq, owner.token > 0);
    redis.call('SADD', session.busy, 'model');
    noteLaterStart(session, root, now);
    noteClaim(session, step, now);
    // Only answers to calls leave them.
    if (calls.length > 0) dropFields(session, ['resume', 'taken', 'release']);
    // Also the wait of a sub-agent that ended.
    if (readField(session.conversation, 'waitsUntil') !== undefined) {
      dropFields(session.conversation, ['waitsUntil']);
    }
  }
  const rowCount = redis.call('LLEN', session.rows);
  const rows = `"rowCount":${int(rowCount)},"sequence":${int(log.seq)}`;
  const of = `"messageId":${text(root.messageId ?? '')},"born":${text(root.born ?? '')}`;
  const dropped = field('hasDroppedCalls', root.rewound === undefined ? '' : 'true');
  const more = `${field('usage', usageJson(root.usage))}${dropped}`;
  const claimed = `{"kind":"claimed",${rows},${failing},${of}${more}}`;
  const { wants } = request;
  if (wants === undefined) return claimed;
  return [claimed, ...readWanted(session, wants, root.born ?? '', rowCount)];
}

/** A run that was to begin later has started with its first claim: no wait counts as its work. */
function noteLaterStart(
  session: Session,
  { status, waitsUntil, started }: { status?: string; waitsUntil?: string; started?: string },
  now: number,
): void {
  if (status !== 'starting' || waitsUntil === undefined) return;
  setFields(session, ['started', int(Math.max(num(started), now))]);
}

/**
 * Index of the first row and the rows, none if there are too many; then the agent's state. Content
 * is passed through unchanged.
 */
function readWanted(session: Session, wants: Wanted, born: string, count: number): unknown[] {
  const from = wants.born === born && wants.rows <= count ? wants.rows : 0;
  const rows = count - from > MOST_ROWS ? undefined : readRows(session, from, count);
  const state = wants.state ? readStoredState(session) : [];
  return rows === undefined ? [int(count), [], ...state] : [int(from), rows, ...state];
}

/** Rows from an index on; undefined if they are too large together. */
function readRows(session: Session, from: number, count: number): string[] | undefined {
  const rows: string[] = [];
  let bytes = 0;
  for (let at = from; at < count; at += ROWS_AT_ONCE) {
    const to = int(Math.min(at + ROWS_AT_ONCE, count) - 1);
    for (const row of redis.call('LRANGE', session.rows, int(at), to)) {
      bytes += byteLength(row);
      if (bytes > MOST_BYTES) return undefined;
      rows.push(row);
    }
  }
  return rows;
}

/** The owner of a step's writer; how the provider has failed at the step so far, as JSON fields. */
function readAttempts(
  session: Session,
  writer: string,
  step: number,
): { owner: Owner; failing: string } {
  const n = int(step);
  const [token, wrote, failures, since, waits, model] = redis.call(
    'HMGET',
    session.writers,
    `t:${writer}`,
    `w:${writer}`,
    `fails:${n}`,
    `since:${n}`,
    `waits:${n}`,
    `model:${n}`,
  ) as [Value, Value, Value, Value, Value, Value];
  const forMs = since === false ? 0 : Math.max(0, storeNow() - num(since));
  const counts = `"failures":${failures === false ? '0' : failures},"failingForMs":${int(forMs)}`;
  const fallback = field('fallback', model === false ? '' : model);
  return {
    owner: { token: token === false ? 0 : num(token), isWithdrawing: wrote !== false },
    failing: `${counts},"waits":${waits === false ? '0' : waits}${fallback}`,
  };
}
type Value = string | false;

/** Charges the run for what a lost attempt streamed: the provider bills it too. */
function addSpoken(session: Session, bytes: number, perToken: number): void {
  const tokens = Math.ceil(bytes / BYTES_PER_TOKEN);
  if (tokens === 0) return;
  addUsage(session, `0 ${int(tokens)} 0 0 0 ${int(Math.ceil(tokens * perToken))}`);
}

/** Marks run, session and stream as active and removes the wake-up that led here. */
function noteClaim(session: Session, step: number, now: number): void {
  const { conversation } = session;
  const at = int(now);
  setFields(session, ['status', 'running', 'claimed', int(step), 'updated', at]);
  if (isConversation(session)) {
    setFields(session, ['stream', 'active']);
  } else {
    setFields(conversation, ['stream', 'active', 'updated', at]);
    dropFields(conversation, [`wake:${session.part}`]);
  }
}
