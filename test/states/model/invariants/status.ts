import { agentsOf, first, invariant, type Stored, type StoredAgent } from './stored.js';

/** Status, stream and pending work agree, so that some actor always continues the run. */
export const STATUS = [
  invariant('P3', 'a run that has ended leaves nothing to do', (after) =>
    first(agentsOf(after), ({ record, isOver, busy, kept }) => {
      if (!isOver) return undefined;
      const left = ['stop', 'resume', 'isTaken', 'deadline'].find((name) => name in record.run);
      if (left !== undefined) return `it still has ${left}`;
      const wake = Object.keys(record.wakes)[0];
      if (wake !== undefined) return `it still wakes ${wake}`;
      if (record.queue.some(({ mode }) => mode === 'steer')) return 'a message steers it';
      if (busy.length > 0) return `${busy.join()} is busy`;
      if (record.run.busyCalls > 0) return `${String(record.run.busyCalls)} calls are busy`;
      return kept[0] && `it has the writer ${kept[0]}`;
    }),
  ),
  invariant('P3', 'the status of the run agrees with that of the stream', ({ conversation }) => {
    if (conversation === undefined) return undefined;
    const { run, stream = '' } = conversation.record;
    const { status } = run;
    return isAgreed(status, stream) ? undefined : `${status}, ${stream}`;
  }),
  invariant('P3', 'a run is paused if, and only if, people alone can continue it', (after) => {
    const { conversation } = after;
    if (conversation === undefined || conversation.isOver) return undefined;
    const isPaused = conversation.record.stream === 'paused';
    const busy = liveAgents(after).flatMap((agent) => agent.busy);
    const calls = liveAgents(after).flatMap((agent) => agent.calls);
    const waiting = calls.filter(waits);
    if (isPaused) {
      if (busy.length > 0) return `it is paused, and ${busy.join()} is busy`;
      const isDue = waiting.length > 0 || hasLostSubAgent(after);
      return isDue ? undefined : 'it is paused, and waits for nothing';
    }
    const isDue = liveAgents(after).some(canClaim);
    return busy.length === 0 && !isDue ? 'nothing is busy, and it is not paused' : undefined;
  }),
  invariant('P3', 'what can continue without people is busy', (after) =>
    first(liveAgents(after), ({ record, busy, calls }) => {
      const { claimed, committed, busyCalls } = record.run;
      const isStepRunning = claimed > committed;
      if (busy.includes('model') !== isStepRunning)
        return `the model is${isStepRunning ? ' not' : ''}`;
      for (const id of busy) {
        const call = calls.find((each) => each.id === id);
        if (id !== 'model' && !MAY_BE_BUSY.has(call?.state ?? '')) return id;
      }
      const counted = busyCalls + Number(busy.includes('model'));
      if (counted !== busy.length) return `${busy.join()} are counted as ${String(counted)}`;
      const idle = calls.find(
        ({ id, state, kind }) =>
          !busy.includes(id) && (state === 'started' || (state === 'open' && kind === 'server')),
      );
      return idle && `${idle.id} is not`;
    }),
  ),
  invariant('P3', 'a pause is in the log, shows what is asked, and starts the clocks', (after) => {
    const { conversation, entries } = after;
    if (conversation?.record.stream !== 'paused' || conversation.isOver) return undefined;
    const paused = entries.findLast(({ message }) => message.type === 'run_paused');
    if (paused?.sequence !== conversation.record.run.paused) return 'it has not paused';
    const later = entries.find(
      ({ sequence, writer }) => sequence > paused.sequence && writer !== '',
    );
    if (later !== undefined) return `${later.writer} speaks behind the pause`;
    const calls = liveAgents(after).flatMap((agent) => agent.calls);
    const waiting = calls.filter(({ state }) => state === 'waiting');
    const unasked = waiting.find(
      ({ asked, ask, isHeld }) => asked === undefined || ask !== undefined || isHeld === true,
    );
    if (unasked !== undefined) return `${unasked.id} was not`;
    const deadlines = calls.filter(waits).flatMap(({ deadline }) => deadline ?? []);
    const timeless = waiting.find(
      ({ waitMs, deadline }) => waitMs !== undefined && deadline === undefined,
    );
    if (timeless !== undefined) return `${timeless.id} has no deadline`;
    const next = deadlines.length === 0 ? undefined : Math.min(...deadlines);
    return conversation.record.run.deadline === next
      ? undefined
      : `the next deadline is ${String(next ?? 'none')}`;
  }),
  invariant(
    'P3',
    'what answers have released is kept until it is taken',
    ({ conversation, sub }) => {
      for (const agent of [conversation, sub]) {
        if (agent === undefined || agent.isOver) continue;
        const { record, calls } = agent;
        const released = calls.find(({ state, isBusy }) => state === 'approved' && isBusy === true);
        if (released !== undefined && record.run.resume === undefined) return released.id;
      }
      return undefined;
    },
  ),
  invariant('P2', 'nothing of a live run expires', ({ conversation, expiring }) => {
    if (conversation === undefined || conversation.isOver) return undefined;
    return expiring.length === 0 ? undefined : expiring.join();
  }),
  invariant('P2', 'the log of a run that has ended expires', ({ conversation, expiring }) => {
    if (conversation?.isOver !== true || conversation.record.queue.length > 0) return undefined;
    return expiring.includes(':log') ? undefined : 'it does not';
  }),
];

function waits({ state }: { state: string }): boolean {
  return state === 'waiting' || state === 'suspended';
}

const MAY_BE_BUSY = new Set(['open', 'approved', 'started']);

function isAgreed(status: string, stream: string): boolean {
  switch (status) {
    case 'completed':
    case 'interrupted':
      return stream === 'ended';
    case 'failed':
    case 'aborted':
      return stream === 'failed';
    case 'starting':
    case 'running':
      return stream === 'active';
    default:
      // While a sub-agent is busy, an answer changes nothing yet.
      return stream === 'paused' || stream === 'active';
  }
}

function liveAgents(stored: Stored): StoredAgent[] {
  return agentsOf(stored).filter(({ isOver }) => !isOver);
}

/** Returns true if a parent ended its waiting sub-agent; it settles that call next. */
function hasLostSubAgent({ conversation, sub }: Stored): boolean {
  const call = conversation?.calls.find(({ child }) => child !== undefined);
  return sub?.isOver === true && call?.state === 'open';
}

function canClaim({ calls }: StoredAgent): boolean {
  return calls.every(({ state }) => state === 'settled');
}
