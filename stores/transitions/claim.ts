import { redis } from './lib/host.js';
import { ownWriter, readOwner, writeDiscard, withdraw } from './lib/attempts.js';
import { countLost, isExhausted, type Budget } from './lib/budget.js';
import { isUnsettled, readCallsField } from './lib/calls.js';
import { field, int, text } from './lib/json.js';
import { closeLog, openLog } from './lib/log.js';
import { doneOrSuperseded } from './lib/outcome.js';
import { noteEndOfStep } from './lib/places.js';
import { takeSteering } from './lib/queue.js';
import { MORE, only, type WriterRequest } from './lib/request.js';
import {
  addShared,
  isTerminal,
  num,
  readField,
  readRoot,
  storeNow,
  type Root,
} from './lib/root.js';
import { idOf, isConversation, type Session } from './lib/session.js';
import { addNotices, addResults } from './lib/settling.js';
import { addUsage, usageJson } from './lib/usage.js';

export interface ClaimRequest {
  writer: WriterRequest;
  /** Number of the run within its session. */
  runN: number;
  /** Highest sequence that the run has seen. */
  known: number;
  now: number;
  budget: Budget;
  /** Price of an output token in millionths of a dollar; 0 if unknown. */
  perToken: number;
}

/** Estimated bytes per token: the provider never reported the usage of a lost attempt. */
const BYTES_PER_TOKEN = 4;

const FIELDS = [
  'run',
  'runN',
  'status',
  'stream',
  'seq',
  'stop',
  'committed',
  'outcome',
  'checkpoint',
  'born',
  'rewound',
  'messageId',
  'replied',
  'turn',
  'resume',
  'taken',
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
 * @returns `claimed` with the number of rows, the sequence and what is known of provider failures ·
 * `done` or `superseded` · `rewound` · `stopped` · `fenced` · `not_ready` · `exhausted` · `more`,
 * send the request again
 */
export function claim(session: Session, request: ClaimRequest): string {
  const { writer, runN, known, now, budget, perToken } = request;
  const { runId, name, token, step } = writer;
  const root = readRoot(session, FIELDS);
  addShared(session, root);
  const committed = num(root.committed);
  if (root.run === runId && committed >= step) return doneOrSuperseded(root.outcome, root.status);
  if (num(root.seq) < known || num(root.runN) < runN) return only('rewound');
  if (root.run !== runId || isTerminal(root.status)) return only('superseded');
  if (root.stop !== undefined) return `{"kind":"stopped","stop":${root.stop}}`;
  const owner = readOwner(session, name);
  if (owner.token > token) return only('fenced');
  if (committed !== step - 1) return only('rewound');
  // A sub-agent continues together with the others once the conversation is no longer paused.
  const calls = readCallsField(session, 'state');
  if (isUnsettled(calls) || (!isConversation(session) && root.stream === 'paused')) {
    return only('not_ready');
  }
  const isTaken = owner.token > 0 && owner.token < token;
  if (isTaken && isExhausted(session, name, owner.token, budget)) return only('exhausted');
  const log = openLog(session, root.seq);
  if (owner.token < token || owner.isWithdrawing) {
    const speaker = { agentId: idOf(session), agentType: writer.agentType, step, now };
    const spoken = { bytes: 0 };
    const before = owner.token > 0 ? withdraw(session, name, token, spoken) : { removed: false };
    if (isTaken) countLost(session, name, owner.token, budget);
    addSpoken(session, spoken.bytes, perToken);
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
    noteClaim(session, root, step, now);
  }
  const [failures = false, since = false, waits = false] = redis.call(
    'HMGET',
    session.writers,
    `fails:${int(step)}`,
    `since:${int(step)}`,
    `waits:${int(step)}`,
  );
  const forMs = since === false ? 0 : Math.max(0, storeNow() - num(since));
  const failing =
    `"failures":${failures === false ? '0' : failures},"failingForMs":${int(forMs)}` +
    `,"waits":${waits === false ? '0' : waits}`;
  const rows = `"rowCount":${int(redis.call('LLEN', session.rows))},"sequence":${int(log.seq)}`;
  const of = `"messageId":${text(root.messageId ?? '')},"born":${text(root.born ?? '')}`;
  const dropped = field('hasDroppedCalls', root.rewound === undefined ? '' : 'true');
  const more = `${field('usage', usageJson(readField(session, 'usage')))}${dropped}`;
  return `{"kind":"claimed",${rows},${failing},${of}${more}}`;
}

/** Charges the run for what a lost attempt streamed: the provider bills it too. */
function addSpoken(session: Session, bytes: number, perToken: number): void {
  const tokens = Math.ceil(bytes / BYTES_PER_TOKEN);
  if (tokens === 0) return;
  addUsage(session, `0 ${int(tokens)} 0 0 0 ${int(Math.ceil(tokens * perToken))}`);
}

/** Marks run, session and stream as active and removes the wake-up that led here. */
function noteClaim(
  session: Session,
  { resume, taken }: Root<'resume' | 'taken'>,
  step: number,
  now: number,
): void {
  const claimed: (string | number)[] = ['status', 'running', 'claimed', step, 'updated', now];
  if (isConversation(session)) {
    claimed.push('stream', 'active');
  } else {
    redis.call('HSET', session.conversation.root, 'stream', 'active', 'updated', now);
    redis.call('HDEL', session.conversation.root, `wake:${session.part}`);
  }
  redis.call('HSET', session.root, ...claimed);
  redis.call('HDEL', session.conversation.root, 'waitsUntil');
  if (resume !== undefined || taken !== undefined) {
    redis.call('HDEL', session.root, 'resume', 'taken');
  }
}
