import { LIMITS } from '../../../protocol/limits.js';
import { isTerminal } from '../../../protocol/run.js';
import type { QueuedEntry } from '../../contract/queue.js';
import type { UserMessage, BeginInput, BeginResult } from '../../contract/runs.js';
import { interruptBy } from '../../record/interrupt-by.js';
import { hasUnsettledCalls } from '../calls.js';
import { finish, finishStopped } from '../finish.js';
import { makeRun } from '../make-run.js';
import type { Speaker } from '../own-chunks.js';
import { popQueued, pushQueued } from '../queue.js';
import type { MemoryRun, MemorySession, StoreContext } from '../session.js';
import { putState } from './save-state.js';
import { requestStop } from './stop.js';

/** Accepts user messages and makes a run for them; the only transition that creates a session. */
export function begin(
  session: MemorySession,
  input: BeginInput,
  context: StoreContext,
): BeginResult {
  const { identity, accepted } = session;
  const { agent, policy = 'reject', now } = input;
  if (identity !== undefined) {
    const isForeign = identity.owner !== input.owner || identity.tenant !== (input.tenant ?? '');
    if (isForeign) return { kind: 'foreign' };
    if (identity.agent !== agent) return { kind: 'agent_mismatch', agent: identity.agent };
  }
  const changed = input.messages.find(({ id, hash }) => (accepted.get(id) ?? hash) !== hash);
  if (changed !== undefined) return { kind: 'conflict', messageId: changed.id };
  const fresh = input.messages.filter(({ id }) => !accepted.has(id));
  const [first] = fresh;
  if (first === undefined) return { kind: 'accepted' };

  const { run } = session;
  const atWork = run !== undefined && !isTerminal(run.status) ? run : undefined;
  const isAbandoned =
    atWork !== undefined && session.stream === 'paused' && hasUnsettledCalls(session);
  const othersWait = session.queue.length > 0;
  if ((atWork !== undefined && !isAbandoned) || othersWait) {
    // What waits is not overtaken, whatever becomes of the run.
    if (policy === 'reject' && !isAbandoned) return { kind: 'busy' };
    if (session.queue.length >= LIMITS.queueEntries) return { kind: 'queue_full' };
  }
  for (const { id, hash } of fresh) accepted.set(id, hash);

  const who = { agentId: session.id, agentType: agent, step: run?.committedStep ?? 0, now };
  const entry = toEntry(input, first.id, fresh);
  if (atWork !== undefined) {
    const waits = giveWay(session, atWork, { isAbandoned, entry, who, input }, context);
    if (waits !== undefined) return waits;
  }
  const { owner, tenant = '', nonce } = input;
  session.identity ??= { agent, owner, tenant, createdAt: now, born: nonce };
  const superseded = atWork === undefined ? {} : { supersededRunId: atWork.runId };
  if (!othersWait || policy === 'interrupt') {
    if (input.state !== undefined) putState(session, input.state);
    const { resumed } = input;
    const made = { agent, nonce, now, messages: fresh, waited: false, resumed };
    return { kind: 'begun', run: { ...makeRun(session, made, context), ...superseded } };
  }
  pushQueued(session, who, { ...entry, mode: 'queue' });
  const { sequence } = session.log;
  const made = { agent, nonce, now, messages: popQueued(session), waited: true };
  const begun = { ...makeRun(session, made, context), ...superseded };
  return { kind: 'queued', sequence, begun };
}

function toEntry(input: BeginInput, id: string, messages: UserMessage[]): QueuedEntry {
  const { policy = 'reject', now, by } = input;
  const mode = policy === 'reject' ? 'queue' : policy;
  return { id, mode, messages, queuedAt: now, ...(by !== undefined && { by }) };
}

/** Ends the run that is at work, or lets the messages wait for it: then says how. */
function giveWay(
  session: MemorySession,
  run: MemoryRun,
  {
    isAbandoned,
    entry,
    who,
    input,
  }: { isAbandoned: boolean; entry: QueuedEntry; who: Speaker; input: BeginInput },
  context: StoreContext,
): BeginResult | undefined {
  const { runId } = run;
  if (isAbandoned) {
    // Results that were given are kept, the rest is settled; the new message follows.
    const ending = { status: 'interrupted', reason: 'abandoned' } as const;
    finish(session, run, who, { ...ending, code: 'client_tool_abandoned' }, context);
    return undefined;
  }
  if (entry.mode === 'interrupt' && !requestStop(session, run, interruptBy(input))) {
    finishStopped(session, run, who, context);
    return undefined;
  }
  pushQueued(session, who, entry);
  const { sequence } = session.log;
  if (entry.mode === 'interrupt') return { kind: 'interrupting', runId, sequence };
  return entry.mode === 'steer'
    ? { kind: 'steered', runId, sequence }
    : { kind: 'queued', sequence };
}
