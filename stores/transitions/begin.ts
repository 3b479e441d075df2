import { redis } from './lib/host.js';
import { hasUnsettled } from './lib/calls.js';
import { speakerOf } from './lib/chunks.js';
import { claimFiles } from './lib/expiry.js';
import { endingOfStop, finish } from './lib/finish.js';
import { field, int, text } from './lib/json.js';
import { closeLog, openLog, type Log } from './lib/log.js';
import { accept, readAccepted } from './lib/accepted.js';
import { toStored, type MessageArgument, type StoredMessage } from './lib/messages.js';
import {
  popQueued,
  pushQueued,
  queuedBytes,
  type QueueEntry,
  type QueueMode,
} from './lib/queue.js';
import { contentAt, only, type Content } from './lib/request.js';
import { isLive, readRoot, setFields } from './lib/root.js';
import type { Session } from './lib/session.js';
import { makeTurn, runJson, strangerOf, TURN_FIELDS, type NewTurn } from './lib/start-run.js';
import { putState } from './lib/state.js';
import { requestStop } from './lib/stopping.js';

export interface BeginRequest {
  agent: string;
  owner: string;
  tenant: string;
  nonce: string;
  now: number;
  /** Entries that the log may have before old turns are trimmed; 0: no limit. */
  cap: number;
  policy: 'reject' | QueueMode;
  /** The only run that an interrupt may stop. Default: whichever is active. */
  interrupts?: string;
  /** True: a paused run is not abandoned; it is active like any other. */
  keepsQuestions?: boolean;
  /** Maximum number of entries in the queue. */
  mostQueued: number;
  mostQueuedBytes: number;
  /** Stop record of an interrupt. */
  stop: Content;
  /** The sender. */
  by?: string;
  /** Who asks by the messages, see lib/places. */
  askers: string;
  messages: MessageArgument[];
  /**
   * The agent's own state, valid from the start of the run; not stored for messages that are
   * queued.
   */
  state?: Content;
  /** Mode of the run, and who requested it. */
  mode: string;
  resumedBy?: string;
  /** The run waits for this time, ms since the epoch. */
  startAt?: number;
}

export const BEGIN_FIELDS = [
  'layout',
  'agent',
  'owner',
  'tenant',
  'run',
  'status',
  'seq',
  ...TURN_FIELDS,
] as const;

/**
 * begin: accepts user messages and starts a run for them. It is the only transition that creates a
 * session. If a run is active, or other messages are waiting, the busy policy decides whether the
 * messages are refused, queued, steer the run or interrupt it; a run that begins later needs an idle
 * session. A run that is paused with unanswered calls is abandoned, unless the request keeps its
 * questions: its calls are settled and the new message starts the next run.
 *
 * Checks, in this order: owner and agent of an existing session · messages accepted before (same
 * content: dropped; other content: conflict) · busy policy · length of the queue.
 *
 * @returns `begun` with the run · `accepted`, no message is new · `queued` (with `begun` if the
 * queue could start a run) · `steered` · `interrupting` · `foreign` · `agent_mismatch` · `conflict`
 * · `busy` · `queue_full`
 */
export function begin(session: Session, request: BeginRequest, args: readonly string[]): string {
  const { agent, owner, tenant, now, interrupts } = request;
  const root = readRoot(session, BEGIN_FIELDS);
  const isOther = interrupts !== undefined && interrupts !== root.run;
  const policy = request.policy === 'interrupt' && isOther ? 'reject' : request.policy;
  if (root.agent !== undefined) {
    if (root.owner !== owner || (root.tenant ?? '') !== tenant) return only('foreign');
    if (root.agent !== agent) return `{"kind":"agent_mismatch","agent":${text(root.agent)}}`;
  }
  const fresh: StoredMessage[] = [];
  // Places of messages before they were dropped.
  const stale: string[] = [];
  // A hidden message belongs to the next visible one: if that one is new, the hidden one may be new
  // too.
  let hidden: StoredMessage[] = [];
  for (const message of toStored(request.messages, args)) {
    const { hash, isDropped } = readAccepted(session, message.id);
    const known = isDropped ? undefined : hash;
    if (isDropped) stale.push(`m:${message.id}`);
    if (known !== undefined && known !== message.hash) {
      return `{"kind":"conflict","messageId":${text(message.id)}}`;
    }
    if (known !== undefined) {
      if (!message.hidden) hidden = [];
    } else if (message.hidden) {
      hidden.push(message);
    } else {
      for (const each of hidden) fresh.push(each);
      fresh.push(message);
      hidden = [];
    }
  }
  for (const each of hidden) fresh.push(each);
  if (fresh.length === 0) return only('accepted');

  const isLater = request.startAt !== undefined && request.startAt > now;
  const isActive = isLive(root.status);
  const mayAbandon = request.keepsQuestions !== true && root.stream === 'paused';
  const abandons = isActive && mayAbandon && hasUnsettled(session);
  const waiting = root.agent === undefined ? 0 : redis.call('LLEN', session.queue);
  if (isLater && (isActive || waiting > 0)) return only('busy');
  if ((isActive && !abandons) || waiting > 0) {
    // A new message never overtakes waiting ones, whatever happens to the run.
    if (policy === 'reject' && !abandons) return only('busy');
    if (waiting >= request.mostQueued || queuedBytes(session) >= request.mostQueuedBytes) {
      return only('queue_full');
    }
  }
  accept(session, fresh);
  if (stale.length > 0) redis.call('HDEL', session.places, ...stale);

  const log = openLog(session, root.seq);
  const speaker = speakerOf(session, agent, root.committed, now);
  const isQueued = policy === 'reject' || (policy === 'steer' && (!isActive || abandons));
  const mode = isQueued ? 'queue' : policy;
  const entry: QueueEntry = {
    mode,
    messages: fresh,
    queuedAt: now,
    by: request.by,
    askers: request.askers,
  };
  const run = root.run ?? '';
  let superseded = '';
  if (abandons) {
    // Results already given are kept, all other calls are settled as abandoned; the new message
    // follows.
    superseded = run;
    const code = 'client_tool_abandoned';
    finish(session, log, speaker, { status: 'interrupted', error: '', reason: 'abandoned', code });
  } else if (isActive && policy === 'interrupt') {
    const stop = contentAt(args, request.stop);
    const { record, isSpeaking } = requestStop(session, 'interrupt', stop);
    if (isSpeaking) {
      pushQueued(session, log, speaker, entry);
      closeLog(log);
      return `{"kind":"interrupting","runId":${text(run)},"sequence":${int(log.seq)}}`;
    }
    superseded = run;
    finish(session, log, speaker, endingOfStop(record));
  } else if (isActive) {
    pushQueued(session, log, speaker, entry);
    closeLog(log);
    const sequence = `"sequence":${int(log.seq)}`;
    if (policy !== 'steer') return `{"kind":"queued",${sequence}}`;
    return `{"kind":"steered","runId":${text(run)},${sequence}}`;
  }

  const isNew = root.agent === undefined;
  const made: NewTurn = {
    agent,
    nonce: request.nonce,
    now,
    cap: request.cap,
    messages: fresh,
    waited: false,
    mode: 'new',
    by: '',
    askers: request.askers,
  };
  if (waiting > 0 && policy !== 'interrupt') {
    pushQueued(session, log, speaker, entry);
    const sequence = log.seq;
    const first = popQueued(session);
    made.messages = first.messages;
    made.by = strangerOf(first.by, owner);
    made.askers = first.askers;
    made.waited = true;
    const begun = turnJson(session, log, made, superseded);
    return `{"kind":"queued","sequence":${int(sequence)},"begun":${begun}}`;
  }
  const state = contentAt(args, request.state);
  if (state !== '') putState(session, state);
  made.mode = request.mode;
  made.by = request.resumedBy ?? strangerOf(request.by, owner);
  const begun = turnJson(session, log, made, superseded);
  if (isNew) createSession(session, request);
  if (isLater) setFields(session, ['waitsUntil', int(request.startAt as number)]);
  return `{"kind":"begun","run":${begun}}`;
}

function createSession(session: Session, { agent, owner, tenant, nonce, now }: BeginRequest): void {
  setFields(session, ['agent', agent, 'owner', owner, 'tenant', tenant, 'created', int(now)]);
  setFields(session, ['born', nonce, 'counted', '1']);
  claimFiles(session, owner, tenant);
}

function turnJson(session: Session, log: Log, made: NewTurn, superseded: string): string {
  const newRun = makeTurn(session, log, made, readRoot(session, BEGIN_FIELDS));
  const run = runJson(session, made.agent, newRun, made.now);
  return `{${run}${field('supersededRunId', superseded === '' ? '' : text(superseded))}}`;
}
