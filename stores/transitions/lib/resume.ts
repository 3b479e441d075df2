import { redis } from './host.js';
import { hasUnsettled } from './calls.js';
import { ownChunk, speakerOf } from './chunks.js';
import { int, list, nullable, stored, text, texts } from './json.js';
import { write, type Log } from './log.js';
import { num, readField, readRoot, setFields } from './root.js';
import { idOf, isConversation, sessionAt, type Session } from './session.js';
import { sessionsBelow, type Found } from './walk.js';

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
 * The last answer that the conversation waits for lets all its sessions continue, each with its
 * approved calls.
 */
export function resumeIfAnswered(paused: Session, log: Log, now: number): Resumed {
  const sessions = sessionsBelow(paused.conversation);
  for (const { calls } of sessions) {
    for (const { state } of calls) if (state === 'waiting') return NOTHING_RESUMED;
  }
  const isNewLeg = makeActive(paused, log, now);
  let resume = '';
  const others: string[] = [];
  for (const found of sessions) {
    const { session } = found;
    const { approved, isTold } = openAgain(found);
    if (isNewLeg && !isConversation(session)) beginLeg(session, now);
    setFields(session, ['status', 'running']);
    if (session.part === paused.part) {
      resume = release(session, approved);
    } else if (isTold) {
      const own = release(session, approved);
      others.push(wakeJson(session, own));
    }
  }
  return { resume, others: others.length === 0 ? '' : list(others) };
}

/**
 * The calls that a session may now carry out; `isTold` if one was answered since its run was woken.
 */
function openAgain({ session, calls }: Found): { approved: string[]; isTold: boolean } {
  const approved: string[] = [];
  let isTold = false;
  for (const { id, state, asked } of calls) {
    if (state === 'approved') approved.push(id);
    if (state === 'open') redis.call('SADD', session.busy, id);
    if (asked === undefined) continue;
    if (redis.call('HSETNX', session.calls, `told:${id}`, '1') === 1) isTold = true;
  }
  return { approved, isTold };
}

/** Stores what a session may continue with, until its run takes it. */
function release(session: Session, approved: readonly string[]): string {
  if (approved.length > 0) redis.call('SADD', session.busy, ...approved);
  const step = stored(readField(session, 'committed'));
  const resumption = `{"step":${step},"approved":${texts(approved)}}`;
  setFields(session, ['resume', resumption]);
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
  let current = session;
  setFields(current, ['status', 'running']);
  while (!isConversation(current)) {
    if (isNewLeg) beginLeg(current, now);
    const { parent, parentCall } = readRoot(current, ['parent', 'parentCall']);
    const above = sessionAt(current, parent ?? '');
    redis.call('SADD', above.busy, parentCall ?? '');
    setFields(above, ['status', 'running']);
    current = above;
  }
}
