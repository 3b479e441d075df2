import type { SessionRecord } from '../../../../store/contract/sessions.js';
import { spend, type Environment } from '../environment.js';
import { runNumberOf } from '../../../../protocol/ids.js';
import { nameOfRun, nonceOf } from '../plan.js';
import type { Facts } from '../record/facts.js';
import type { Reply } from '../record/play.js';
import { beginQueued, post, resume, type Policy } from '../requests/people.js';
import { signalLook, startWorkflow } from '../workflows.js';
import { withLoss, type Action } from './action.js';
import { confirmStop } from './stops.js';

const POLICIES: readonly Policy[] = ['reject', 'queue', 'steer', 'interrupt'];

/** Returns a person's next message or resumption of a run, and the start of queued messages. */
export function messageActions(env: Environment, { record, accepted }: Facts): Action[] {
  const { clock, left } = env;
  const actions: Action[] = [];
  const nonce = nonceOf(record === undefined ? 1 : runNumberOf(record.runId) + 1);
  if (record !== undefined && record.queued > 0) actions.push(...queueActions(env, record, false));
  if (left.messages === 0) return actions;
  const paid = spend(env, 'messages');
  const id = `u${String(accepted + 1)}`;
  // All policies act the same on a session that does not exist yet.
  for (const policy of record === undefined ? (['reject'] as const) : POLICIES) {
    const request = post(id, nonce, policy, clock);
    actions.push(
      ...withStart(env, paid, { name: `message ${id}, ${policy}`, request, isFair: false }),
    );
  }
  if (record === undefined) return actions;
  const again = { name: 'resume', request: resume(nonce, clock), isFair: false };
  return [...actions, ...withStart(env, paid, again)];
}

/** The oldest message of the queue begins a run, if none is active. */
export function queueActions(
  env: Environment,
  { runId }: SessionRecord,
  isFair: boolean,
): Action[] {
  const request = beginQueued(nonceOf(runNumberOf(runId) + 1), env.clock);
  const name = isFair ? 'sweep begins queued' : 'begin queued';
  return withStart(env, env, { name, request, isFair });
}

type Sent = Pick<Action, 'name' | 'request' | 'isFair'>;

function withStart(env: Environment, paid: Environment, sent: Sent): Action[] {
  return withLoss(env, sent, 'start', (isStarted) => (reply) => {
    return afterBegin(env, paid, reply, isStarted);
  });
}

const REFUSALS = new Set(['busy', 'accepted', 'empty', 'active', 'final']);

function afterBegin(
  env: Environment,
  paid: Environment,
  reply: Reply,
  isStarted: boolean,
): Environment | string {
  if (REFUSALS.has(reply.kind)) return env;
  switch (reply.kind) {
    case 'begun':
    case 'resumed':
      return afterStart(paid, reply['run'] as Begun, isStarted);
    case 'queued':
      return reply['begun'] === undefined
        ? paid
        : afterStart(paid, reply['begun'] as Begun, isStarted);
    case 'steered':
      return paid;
    case 'interrupting':
      return confirmStop(paid, String(reply['runId']), isStarted);
    default:
      return `P3, a message has a defined outcome: it got the reply ${reply.kind}`;
  }
}

interface Begun {
  runId: string;
  supersededRunId?: string;
  from?: { step: number };
}

function afterStart(
  env: Environment,
  { runId, supersededRunId, from }: Begun,
  isStarted: boolean,
): Environment | string {
  const run = nameOfRun(runId);
  if (run === undefined) return `P4, runs are numbered without gaps: a message began ${runId}`;
  if (!isStarted) return spend(env, 'faults');
  const old = supersededRunId === undefined ? undefined : nameOfRun(supersededRunId);
  return startWorkflow(old === undefined ? env : signalLook(env, old), run, from?.step);
}
