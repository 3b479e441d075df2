import type { Resumption } from '../protocol/run.js';
import { sessionsBelow, type Found } from './waiting.js';
import type { Call } from './record.js';
import { writeResumed, authorOf } from './chunks.js';
import { setBusy } from './settling.js';
import type { Session } from './tree.js';

export interface Wake {
  sessionId: string;
  runId: string;
  resume: Resumption;
}

/** The runs that an answer lets continue: the one that asked, and others of the conversation. */
export interface Resumed {
  resume?: Resumption;
  others?: Wake[];
}

/** Makes the stream active again. @returns true if it was paused; it is not while sibling agents run */
function makeActive(session: Session, now: number): boolean {
  const { conversation } = session.tree;
  const { existing: record } = conversation;
  const { run } = record;
  const wasPaused = record.stream === 'paused';
  if (wasPaused) {
    beginLeg(conversation, now);
    const { id: runId, committed: step } = run;
    const author = authorOf(conversation, now);
    writeResumed(conversation, author, { runId, step, mode: 'continue' });
  }
  run.status = 'running';
  record.stream = 'active';
  return wasPaused;
}

/** Notes the start of a leg, with which the operator's trace begins. */
function beginLeg(session: Session, now: number): void {
  const { run } = session.existing;
  run.leg = {
    n: (run.leg?.n ?? 0) + 1,
    at: now,
    ...(run.usage !== undefined && { used: run.usage }),
  };
}

function setRunning(session: Session, isNewLeg: boolean, now: number): void {
  if (isNewLeg && !session.isConversation) beginLeg(session, now);
  session.existing.run.status = 'running';
}

/**
 * Lets the conversation continue after people's last answer: each session carries out its approved calls. Webhooks do
 * not count: a sub-agent that waited only for its webhook continues at once, and open questions stay open.
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
    setRunning(session, isNewLeg, now);
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

/** Returns true if an ended sub-agent was the last that asked people: answers given elsewhere wait for no others. */
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

function asksPeople(found: readonly Found[]): boolean {
  return found.some(({ calls }) => calls.some(({ state }) => state === 'waiting'));
}

/** Finds the sessions that people's answers do not let continue: they, or sub-agents below them, wait for webhooks. */
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

/** Returns the calls that a session may now carry out. `isTold`: one was answered since its run was last woken. */
function openAgain(session: Session, calls: readonly Call[], asleep: ReadonlySet<string>) {
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
 * Stores the calls with which a session may continue, until its run takes them. Each release names all approved calls
 * that have not started, so the start of a newly added call shows that the release has arrived.
 */
function release(session: Session, approved: readonly Call[]): Resumption {
  const { run } = session.existing;
  run.releases += 1;
  for (const call of approved) if (setBusy(session, call, true)) call.release = run.releases;
  const resume: Resumption = { step: run.committed, approved: approved.map(({ id }) => id) };
  run.resume = resume;
  // The run has not taken this release yet.
  delete run.isTaken;
  if (!session.isConversation) {
    session.tree.conversation.existing.wakes[session.part] = { runId: run.id, ...resume };
  }
  return resume;
}

/** Lets a session whose calls are all settled continue although others of the conversation still wait. */
export function continueAlone(session: Session, now: number): boolean {
  if (session.openCalls().some(({ state }) => state !== 'settled')) return false;
  const isNewLeg = makeActive(session, now);
  setRunning(session, isNewLeg, now);
  // The sessions above no longer wait for people alone.
  for (let { parent } = session.existing; parent !== undefined;) {
    const above = session.tree.session(parent.part);
    setRunning(above, isNewLeg, now);
    const call = above.calls.get(parent.toolCallId);
    if (call !== undefined) setBusy(above, call, true);
    ({ parent } = above.existing);
  }
  return true;
}
