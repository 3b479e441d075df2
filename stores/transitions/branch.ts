import { byteLength, formatInt, redis } from './lib/host.js';
import { armExpiry, claimFiles } from './lib/expiry.js';
import { closeCopy } from './lib/finish.js';
import { noteHidden } from './lib/messages.js';
import { noteAct } from './lib/outbox.js';
import { noteAskers, noteTurn } from './lib/places.js';
import { contentAt, only, type Content } from './lib/request.js';
import { dropFields, readRoot, setFields, writeRoot } from './lib/root.js';
import { OWN_KEYS, type Session } from './lib/session.js';
import { countStored } from './lib/size.js';
import { startRun } from './lib/start-run.js';
import { putState } from './lib/state.js';

export interface BranchRequest {
  agent: string;
  owner: string;
  tenant: string;
  nonce: string;
  now: number;
  /** The requester. */
  by: string;
  /** Number of rows in the parts before this one, and the rows of this part. */
  from: number;
  rows: Content[];
  messages: { id: string; hash: string }[];
  /** Names and values of their places and of those of their turns, see lib/places. */
  places: string[];
  /** Calls that have a result, with the output if it is stored apart from the row. */
  results: { id: string; output?: Content }[];
  /** Present on the last part only. */
  end?: BranchEnd;
  /** The entry of the audit trail, with the last part. */
  act?: Content;
}

interface BranchEnd {
  /**
   * The newest turn: its number, its first row, the id of its reply and the last committed step.
   */
  turn: number;
  row: number;
  messageId: string;
  step: number;
  hasReplied: boolean;
  /** Who asks by it, see lib/places. */
  askers: string;
  /** The turn is to be continued after its last step. */
  isOpen?: boolean;
  /** Some of the copied messages are shown to models only. */
  hasHidden?: boolean;
  /** Number of visible messages. */
  visibleMessages: number;
  /** The agent's own state. */
  state?: Content;
}

/** Parts of a copy that is never completed expire after this time. */
const UNFINISHED_SECONDS = 3_600;

/**
 * branch: creates a session from rows of another session, in parts. The session exists once the
 * last part is stored; it is then idle, with a run number 0 that is completed, or interrupted if the
 * turn is to be continued.
 *
 * Checks, in this order: the session exists (`branched` if this nonce created it, else `exists`) ·
 * a stream of that name exists · another copy was begun under this id (its parts are deleted) ·
 * this part is already stored.
 *
 * @returns `stored` for a part · `branched` · `exists`
 */
export function branch(session: Session, request: BranchRequest, args: readonly string[]): string {
  const { nonce } = request;
  const root = readRoot(session, ['agent', 'born', 'mode', 'branching', 'stream']);
  if (root.agent !== undefined) {
    return only(root.born === nonce && root.mode === 'branch' ? 'branched' : 'exists');
  }
  if (root.stream !== undefined) return only('exists');
  const isBegun = root.branching === nonce;
  if (!isBegun) {
    const keys: string[] = [];
    for (const name of OWN_KEYS) keys.push(session[name]);
    redis.call('UNLINK', session.results, ...keys);
    setFields(session, ['branching', nonce]);
  }
  // A repeated request: this part is already stored.
  if (redis.call('LLEN', session.rows) === request.from) addPart(session, request, args);
  if (request.end !== undefined) {
    if (isBegun) keep(session);
    createCopy(session, request, request.end, args);
    if (request.end.hasHidden === true) noteHidden(session);
    noteAct(session, args, request.act, 'branched');
    return only('branched');
  }
  writeRoot(session);
  const seconds = formatInt(UNFINISHED_SECONDS);
  for (const name of OWN_KEYS) redis.call('EXPIRE', session[name], seconds);
  redis.call('EXPIRE', session.results, seconds);
  return only('stored');
}

/** The parts before the last one expire. */
function keep(session: Session): void {
  for (const name of OWN_KEYS) redis.call('PERSIST', session[name]);
  redis.call('PERSIST', session.results);
}

function addPart(
  session: Session,
  { rows, messages, places, results }: BranchRequest,
  args: readonly string[],
): void {
  let bytes = 0;
  const copied: string[] = [];
  for (const at of rows) {
    const row = contentAt(args, at);
    copied.push(row);
    bytes += byteLength(row);
  }
  if (copied.length > 0) redis.call('RPUSH', session.rows, ...copied);
  const accepted: string[] = [];
  for (const { id, hash } of messages) accepted.push(id, hash);
  if (accepted.length > 0) redis.call('HSET', session.messages, ...accepted);
  if (places.length > 0) redis.call('HSET', session.places, ...places);
  const settled: string[] = [];
  for (const { id } of results) settled.push(id);
  if (settled.length > 0) redis.call('SADD', session.settled, ...settled);
  for (const { id, output } of results) {
    if (output !== undefined) {
      redis.call('HSET', session.results, id, contentAt(args, output));
      bytes += byteLength(contentAt(args, output));
    }
  }
  countStored(session, bytes);
}

function createCopy(
  session: Session,
  { agent, owner, tenant, nonce, now, by }: BranchRequest,
  end: BranchEnd,
  args: readonly string[],
): void {
  const shown = formatInt(end.visibleMessages);
  setFields(session, ['agent', agent, 'owner', owner, 'tenant', tenant, 'uiCount', shown]);
  setFields(session, ['created', formatInt(now), 'born', nonce]);
  setFields(session, ['counted', '1']);
  claimFiles(session, owner, tenant);
  dropFields(session, ['branching']);
  const state = contentAt(args, end.state);
  if (state !== '') putState(session, state);
  const { turn, row, messageId, step } = end;
  noteTurn(session, { turn, row, seq: 0, messageId });
  noteAskers(session, turn, end.askers);
  startRun(
    session,
    {
      id: `${session.conversationId}:0-${nonce}`,
      n: 0,
      mode: 'branch',
      by,
      turn,
      message: messageId,
      turnSeq: 0,
      turnRow: row,
      seq: 0,
      step,
      isFirst: true,
    },
    0,
    now,
  );
  setFields(session, ['replied', end.hasReplied ? formatInt(turn) : '']);
  closeCopy(session, now, end.isOpen === true ? 'interrupted' : 'completed');
  writeRoot(session);
  armExpiry(session, true);
}
