import { redis } from './host.js';
import { hasUnsettled, isUnsettled } from './calls.js';
import { ownChunk, speakerOf } from './chunks.js';
import { int, list, nullable, stored, text, texts } from './json.js';
import { write, type Log } from './log.js';
import { dropFields, num, readField, readRoot, setFields } from './root.js';
import { idOf, isConversation, sessionAt, type Session } from './session.js';
import { isUnseen } from './settling.js';
import { readFound, sessionsBelow, type Found, type FoundCall } from './walk.js';

/** What an answer lets continue, as JSON texts; '' for nothing. */
export interface Resumed {
  /** For the session that was answered: what its run continues with. */
  resume: string;
  /** Other runs of the conversation, with what they continue with. */
  others: string;
}
export const NOTHING_RESUMED: Resumed = { resume: '', others: '' };

const ACTIVE_FIELDS = [
  ...(['stream', 'run', 'agent', 'checkpoint', 'committed'] as const),
  ...(['legs', 'usage'] as const),
] as const;

/**
 * Makes the stream active again if it was paused; it was not while sibling agents were running. True
 * if it was.
 */
export function makeActive({ conversation }: Session, log: Log, now: number): boolean {
  const root = readRoot(conversation, ACTIVE_FIELDS);
  const wasPaused = root.stream === 'paused';
  if (wasPaused) {
    beginLeg(conversation, now);
    const from = `"fromCheckpointId":${nullable(root.checkpoint)}`;
    const body = `"runId":${text(root.run ?? '')},${from},"fromStepCount":${stored(root.committed)}`;
    const speaker = speakerOf(conversation, root.agent, root.committed, now);
    write(log, ownChunk(speaker, 'run_resumed', `${body},"mode":"continue"`));
  }
  setFields(conversation, ['status', 'running', 'stream', 'active']);
  return wasPaused;
}

/** Stores where a leg begins: what an operator's trace of it starts from. */
function beginLeg(session: Session, now: number): void {
  const { legs, usage } = readRoot(session, LEG_FIELDS);
  setFields(session, ['legs', int(num(legs) + 1), 'legAt', int(now), 'legUsed', usage ?? '']);
}

const LEG_FIELDS = ['legs', 'usage'] as const;

/**
 * The last answer of people lets the conversation continue, each of its sessions with its approved
 * calls. What tools wait for without people does not count: a wait that is over releases its own
 * call at once, and questions that are open stay open.
 *
 * @param over the call whose wait is over, if no person ended it
 */
export function resumeIfAnswered(
  answered: Session,
  log: Log,
  now: number,
  over: string | undefined,
): Resumed {
  const sessions = sessionsBelow(answered.conversation);
  if (asksPeople(sessions)) {
    return over === undefined ? NOTHING_RESUMED : releaseAlone(answered, over, log, now);
  }
  const asleep = findAsleep(sessions);
  if (asleep.includes(answered.conversation.part)) return NOTHING_RESUMED;
  const isNewLeg = makeActive(answered, log, now);
  let resume = '';
  const others: string[] = [];
  for (const found of sessions) {
    const { session } = found;
    if (asleep.includes(session.part)) continue;
    const { approved, isTold } = openAgain(found, asleep);
    if (isNewLeg && !isConversation(session)) beginLeg(session, now);
    setFields(session, ['status', 'running']);
    if (session.part === answered.part) {
      resume = release(session, approved);
    } else if (isTold) {
      const own = release(session, approved);
      others.push(wakeJson(session, own));
    }
  }
  return { resume, others: others.length === 0 ? '' : list(others) };
}

/**
 * True if a sub-agent that has ended was the last that asked people: what they have answered elsewhere
 * in the conversation waits for no further answer.
 */
export function isLastToAsk({ conversation }: Session): boolean {
  const sessions = sessionsBelow(conversation);
  if (asksPeople(sessions)) return false;
  const asleep = findAsleep(sessions);
  for (const { session, calls } of sessions) {
    if (asleep.includes(session.part)) continue;
    for (const { id, asked } of calls) {
      if (asked === undefined) continue;
      if (redis.call('HEXISTS', session.calls, `told:${id}`) === 0) return true;
    }
  }
  return false;
}

/** True while a person has to answer one of the calls. */
function asksPeople(sessions: readonly Found[]): boolean {
  for (const { calls } of sessions) {
    for (const { state, kind } of calls) if (state === 'waiting' && !isUnseen(kind)) return true;
  }
  return false;
}

/**
 * Parts of the ids of the sessions in which nothing can progress although people have answered:
 * their tools sleep, or wait for webhooks, or those of the sub-agents below them do.
 */
function findAsleep(sessions: readonly Found[]): string[] {
  const asleep: string[] = [];
  // Sub-agents come after the session that called them.
  for (let at = sessions.length - 1; at >= 0; at -= 1) {
    const { session, calls } = sessions[at] as Found;
    let isAwake = !isUnsettled(calls) || redis.call('SCARD', session.busy) > 0;
    for (const call of calls) {
      if (call.state === 'approved' || isInProgress(call, asleep)) isAwake = true;
    }
    if (!isAwake) asleep.push(session.part);
  }
  return asleep;
}

function isInProgress({ state, child }: FoundCall, asleep: readonly string[]): boolean {
  return state === 'open' && (child === undefined || !asleep.includes(child));
}

/**
 * Releases the call whose wait is over, while people are asked. Approved calls stay where they are
 * until the last answer.
 */
function releaseAlone(session: Session, over: string, log: Log, now: number): Resumed {
  const isNewLeg = makeActive(session, log, now);
  if (isNewLeg && !isConversation(session)) beginLeg(session, now);
  setFields(session, ['status', 'running']);
  makeAncestorsActive(session, isNewLeg, now);
  const approved: string[] = [];
  for (const { id, state } of readFound(session)) {
    if (state !== 'approved') continue;
    if (id === over || redis.call('SISMEMBER', session.busy, id) === 1) approved.push(id);
  }
  return { resume: release(session, approved, true), others: '' };
}

/**
 * The calls that a session may now carry out; `isTold` if one was answered since its run was woken.
 */
function openAgain(
  { session, calls }: Found,
  asleep: readonly string[],
): { approved: string[]; isTold: boolean } {
  const approved: string[] = [];
  let isTold = false;
  for (const call of calls) {
    const { id, state, asked } = call;
    if (state === 'approved') approved.push(id);
    if (isInProgress(call, asleep)) redis.call('SADD', session.busy, id);
    if (asked === undefined || state === 'waiting') continue;
    if (redis.call('HSETNX', session.calls, `told:${id}`, '1') === 1) isTold = true;
  }
  return { approved, isTold };
}

/**
 * Stores what a session may continue with, until its run takes it: each release names all approved
 * calls that have not started, so the start of one that this release adds shows that its signal has
 * arrived. `partial` while people are still asked.
 */
function release(session: Session, approved: readonly string[], partial = false): string {
  const number = int(num(readField(session, 'release')) + 1);
  const added: string[] = [];
  for (const id of approved) {
    if (redis.call('SADD', session.busy, id) === 1) added.push(`release:${id}`, number);
  }
  if (added.length > 0) redis.call('HSET', session.calls, ...added);
  const step = stored(readField(session, 'committed'));
  const still = partial ? ',"partial":true' : '';
  const resumption = `{"step":${step},"approved":${texts(approved)}${still}}`;
  setFields(session, ['resume', resumption, 'release', number]);
  // The run has not taken this, whatever it has taken before.
  dropFields(session, ['taken']);
  if (!isConversation(session)) {
    const wake = wakeJson(session, resumption);
    setFields(session.conversation, [`wake:${session.part}`, wake]);
  }
  return resumption;
}

function wakeJson(session: Session, resumption: string): string {
  const run = readField(session, 'run') ?? '';
  return `{"sessionId":${text(idOf(session))},"runId":${text(run)},"resume":${resumption}}`;
}

/**
 * Lets a session whose calls are all settled continue although others of the conversation still
 * wait.
 */
export function continueAlone(session: Session, log: Log, now: number): void {
  if (hasUnsettled(session)) return;
  const isNewLeg = makeActive(session, log, now);
  if (isNewLeg && !isConversation(session)) beginLeg(session, now);
  setFields(session, ['status', 'running']);
  makeAncestorsActive(session, isNewLeg, now);
}

/** The sessions above one that continues wait for it, no longer for people alone. */
function makeAncestorsActive(session: Session, isNewLeg: boolean, now: number): void {
  let current = session;
  while (!isConversation(current)) {
    const { parent, parentCall } = readRoot(current, ['parent', 'parentCall']);
    current = sessionAt(current, parent ?? '');
    if (isNewLeg && !isConversation(current)) beginLeg(current, now);
    redis.call('SADD', current.busy, parentCall ?? '');
    setFields(current, ['status', 'running']);
  }
}
