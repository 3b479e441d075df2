import { invariant } from './invariant.js';
import { agentsOf, type Stored, type StoredAgent } from './stored.js';
import { first } from './calls.js';
import { callOf } from '../plan.js';

/** Status, stream and busy set agree, so that some actor always continues the run. */
export const STATUS = [
  invariant('P3', 'a run that has ended leaves nothing to do', (after) =>
    first(agentsOf(after), ({ root, isOver, busy, writers }) => {
      if (!isOver) return undefined;
      const left = ['stop', 'resume', 'taken', 'deadline'].find((name) => name in root);
      if (left !== undefined) return `it still has ${left}`;
      const wake = Object.keys(root).find((name) => name.startsWith('wake:'));
      if (wake !== undefined) return `it still has ${wake}`;
      if (busy.length > 0) return `${busy.join()} is busy`;
      const owned = Object.keys(writers)[0];
      return owned && `it has the writer ${owned}`;
    }),
  ),
  invariant('P3', 'the status of the run agrees with that of the stream', ({ conversation }) => {
    if (conversation === undefined) return undefined;
    const { status = '', stream = '' } = conversation.root;
    return isAgreed(status, stream) ? undefined : `${status}, ${stream}`;
  }),
  invariant('P3', 'a run is paused if, and only if, people alone can continue it', (after) => {
    const { conversation } = after;
    if (conversation === undefined || conversation.isOver) return undefined;
    const isPaused = conversation.root['stream'] === 'paused';
    const busy = liveAgents(after).flatMap((agent) => agent.busy);
    const calls = liveAgents(after).flatMap((agent) => agent.calls);
    const waiting = calls.filter(({ field }) => field['state'] === 'waiting');
    if (isPaused) {
      if (busy.length > 0) return `it is paused, and ${busy.join()} is busy`;
      const isDue = waiting.length > 0 || hasLostSubAgent(after);
      return isDue ? undefined : 'it is paused, and no person is asked';
    }
    const isDue = liveAgents(after).some(canClaim);
    return busy.length === 0 && !isDue ? 'nothing is busy, and it is not paused' : undefined;
  }),
  invariant('P3', 'the busy set has what can continue without people', (after) =>
    first(liveAgents(after), ({ root, busy, calls }) => {
      const isSpeaking = Number(root['claimed'] ?? 0) > Number(root['committed'] ?? 0);
      if (busy.includes('model') !== isSpeaking) return `the model is${isSpeaking ? ' not' : ''}`;
      for (const id of busy) {
        const call = calls.find((each) => each.id === id);
        if (id !== 'model' && !MAY_BE_BUSY.has(call?.field['state'] ?? '')) return id;
      }
      const idle = calls.find(
        ({ id, field }) =>
          !busy.includes(id) &&
          (field['state'] === 'started' ||
            (field['state'] === 'open' && callOf(id).kind === 'server')),
      );
      return idle && `${idle.id} is not`;
    }),
  ),
  invariant('P3', 'a pause is in the log, shows what is asked, and starts the clocks', (after) => {
    const { conversation, entries } = after;
    if (conversation?.root['stream'] !== 'paused' || conversation.isOver) return undefined;
    const paused = entries.findLast(({ message }) => message.type === 'run_paused');
    if (paused?.sequence !== Number(conversation.root['pauseSeq'] ?? 0)) return 'it has not paused';
    const later = entries.find(
      ({ sequence, writer }) => sequence > paused.sequence && writer !== '',
    );
    if (later !== undefined) return `${later.writer} speaks behind the pause`;
    const calls = liveAgents(after).flatMap((agent) => agent.calls);
    const waiting = calls.filter(({ field }) => field['state'] === 'waiting');
    const unasked = waiting.find(
      ({ field }) => field['asked'] === undefined || field['ask'] !== undefined,
    );
    if (unasked !== undefined) return `${unasked.id} was not`;
    const deadlines = waiting.flatMap(({ field }) => field['deadline'] ?? []).map(Number);
    const timeless = waiting.find(
      ({ field }) => (field['wait'] ?? '') !== '' && field['deadline'] === undefined,
    );
    if (timeless !== undefined) return `${timeless.id} has no deadline`;
    const noted = conversation.root['deadline'];
    const next = deadlines.length === 0 ? undefined : String(Math.min(...deadlines));
    return noted === next ? undefined : `the next deadline is ${next ?? 'none'}`;
  }),
  invariant(
    'P3',
    'what answers have released is kept until it is taken',
    ({ conversation, sub }) => {
      for (const agent of [conversation, sub]) {
        if (agent === undefined || agent.isOver) continue;
        const { root, calls, busy } = agent;
        const released = calls.find(
          ({ id, field }) => field['state'] === 'approved' && busy.includes(id),
        );
        if (released !== undefined && root['resume'] === undefined) return released.id;
      }
      return undefined;
    },
  ),
  invariant('P2', 'nothing of a live run expires', ({ conversation, expiring }) => {
    if (conversation === undefined || conversation.isOver) return undefined;
    return expiring.length === 0 ? undefined : expiring.join();
  }),
  invariant('P2', 'the log of a run that has ended expires', ({ conversation, expiring }) => {
    if (conversation?.isOver !== true || conversation.queued > 0) return undefined;
    return expiring.includes('stream') ? undefined : 'it does not';
  }),
];

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
      // An answer changes nothing yet while a sub-agent is busy.
      return stream === 'paused' || stream === 'active';
  }
}

function liveAgents(stored: Stored): StoredAgent[] {
  return agentsOf(stored).filter(({ isOver }) => !isOver);
}

/** A sub-agent was ended while it waited: the parent, which has ended it, settles its call next. */
function hasLostSubAgent({ conversation, sub }: Stored): boolean {
  const call = conversation?.calls.find(({ id }) => callOf(id).child === 'sub');
  return sub?.isOver === true && call?.field['state'] === 'open';
}

/** The next step may be claimed. */
function canClaim({ calls }: StoredAgent): boolean {
  return calls.every(({ field }) => field['state'] === 'settled');
}
