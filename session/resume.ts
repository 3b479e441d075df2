import type { Resumption } from '../protocol/run.js';
import { sessionsBelow, type Found } from './pause.js';
import type { Call } from './record.js';
import { say, speakerOf } from './say.js';
import { setBusy } from './settling.js';
import type { Session } from './tree.js';

/** A run that may continue because its calls were answered. */
export interface Wake {
  sessionId: string;
  runId: string;
  resume: Resumption;
}

/** What an answer lets continue: the run that was answered, and others of the conversation. */
export interface Resumed {
  resume?: Resumption;
  others?: Wake[];
}

/** Makes the stream active again. @returns true if it was paused; it was not while sibling agents were running */
function makeActive(session: Session, now: number): boolean {
  const { conversation } = session.tree;
  const { existing: record } = conversation;
  const { run, checkpoint } = record;
  const wasPaused = record.stream === 'paused';
  if (wasPaused) {
    beginLeg(conversation, now);
    say(conversation, speakerOf(conversation, now), 'run_resumed', {
      runId: run.id,
      fromCheckpointId: checkpoint?.id ?? null,
      fromStepCount: run.committed,
      mode: 'continue',
    });
  }
  run.status = 'running';
  record.stream = 'active';
  return wasPaused;
}

/** Notes where a leg begins: what an operator's trace of it starts from. */
function beginLeg(session: Session, now: number): void {
  const { run } = session.existing;
  run.leg = {
    n: (run.leg?.n ?? 0) + 1,
    at: now,
    ...(run.usage !== undefined && { used: run.usage }),
  };
}

/**
 * The last answer of people lets the conversation continue, each of its sessions with its approved calls. Webhooks do
 * not count: a sub-agent that waited for nothing else goes on at once, and questions that are open stay open.
 *
 * @param isAlone the wait for a webhook is over
 */
export function resumeIfAnswered(answered: Session, now: number, isAlone = false): Resumed {
  const found = sessionsBelow(answered.tree.conversation);
  if (asksPeople(found)) {
    return isAlone && continueAlone(answered, now) ? { resume: release(answered, []) } : {};
  }
  const asleep = findAsleep(found);
  if (asleep.has('')) return {};
  const isNewLeg = makeActive(answered, now);
  const resumed: Resumed = {};
  for (const { session, calls } of found) {
    if (asleep.has(session.part)) continue;
    const { approved, isTold } = openAgain(session, calls, asleep);
    if (isNewLeg && !session.isConversation) beginLeg(session, now);
    session.existing.run.status = 'running';
    if (session === answered) {
      resumed.resume = release(session, approved);
    } else if (isTold) {
      const { id: runId } = session.existing.run;
      resumed.others ??= [];
      resumed.others.push({ sessionId: session.id, runId, resume: release(session, approved) });
    }
  }
  return resumed;
}

/**
 * True if a sub-agent that has ended was the last that asked people: what they have answered elsewhere in the
 * conversation waits for no further answer.
 */
export function isLastToAsk({ tree }: Session): boolean {
  const found = sessionsBelow(tree.conversation);
  if (asksPeople(found)) return false;
  const asleep = findAsleep(found);
  return found.some(
    ({ session, calls }) =>
      !asleep.has(session.part) &&
      calls.some(({ asked, isTold }) => asked !== undefined && isTold !== true),
  );
}

/** True while a person has to answer one of the calls. */
function asksPeople(found: readonly Found[]): boolean {
  return found.some(({ calls }) => calls.some(({ state }) => state === 'waiting'));
}

/**
 * The sessions in which nothing can progress although people have answered: their tools wait for webhooks, or those of
 * the sub-agents below them do.
 */
function findAsleep(found: readonly Found[]): Set<string> {
  const asleep = new Set<string>();
  // Sub-agents come after the session that called them.
  for (const { session, calls } of [...found].reverse()) {
    const { run } = session.existing;
    const isAwake =
      run.hasModel ||
      run.busyCalls > 0 ||
      calls.every(({ state }) => state === 'settled') ||
      calls.some((call) => call.state === 'approved' || isInProgress(call, asleep));
    if (!isAwake) asleep.add(session.part);
  }
  return asleep;
}

function isInProgress({ state, child }: Call, asleep: ReadonlySet<string>): boolean {
  return state === 'open' && (child === undefined || !asleep.has(child.part));
}

/** The calls that a session may now carry out; `isTold` if one was answered since its run was woken. */
function openAgain(
  session: Session,
  calls: readonly Call[],
  asleep: ReadonlySet<string>,
): { approved: Call[]; isTold: boolean } {
  let isTold = false;
  for (const call of calls) {
    if (isInProgress(call, asleep)) setBusy(session, call, true);
    if (call.asked === undefined || call.state === 'waiting' || call.isTold === true) continue;
    call.isTold = true;
    isTold = true;
  }
  return { approved: calls.filter(({ state }) => state === 'approved'), isTold };
}

/**
 * Stores what a session may continue with, until its run takes it: each release names all approved calls that have not
 * started, so the start of one that this release adds shows that its signal has arrived.
 */
function release(session: Session, approved: readonly Call[]): Resumption {
  const { run } = session.existing;
  run.releases += 1;
  for (const call of approved) if (setBusy(session, call, true)) call.release = run.releases;
  const resume: Resumption = { step: run.committed, approved: approved.map(({ id }) => id) };
  run.resume = resume;
  // The run has not taken this, whatever it has taken before.
  delete run.isTaken;
  if (!session.isConversation) {
    session.tree.conversation.existing.wakes[session.part] = { runId: run.id, ...resume };
  }
  return resume;
}

/** Lets a session whose calls are all settled continue although others of the conversation still wait. */
export function continueAlone(session: Session, now: number): boolean {
  if (session.openCalls().some(({ state }) => state !== 'settled')) return false;
  continueWithAncestors(session, now);
  return true;
}

/** The sessions above one that continues wait for it, no longer for people alone. */
function continueWithAncestors(session: Session, now: number): void {
  const isNewLeg = makeActive(session, now);
  if (isNewLeg && !session.isConversation) beginLeg(session, now);
  session.existing.run.status = 'running';
  for (let below = session; !below.isConversation;) {
    const { parent } = below.existing;
    const above = session.tree.session(parent?.part ?? '');
    if (isNewLeg && !above.isConversation) beginLeg(above, now);
    const call = above.calls.get(parent?.toolCallId ?? '');
    if (call !== undefined) setBusy(above, call, true);
    above.existing.run.status = 'running';
    if (parent === undefined) return;
    below = above;
  }
}
