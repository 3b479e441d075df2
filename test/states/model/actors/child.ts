import { isTerminal } from '../../../../protocol/run.js';
import { withActor, type Actor, type Environment } from '../environment.js';
import type { Facts } from '../record/facts.js';
import type { Reply } from '../record/play.js';
import { endRun, settleChild } from '../requests/closing.js';
import type { Request } from '../requests/request.js';
import { wakeOthers, finishActor } from '../workflows.js';

/**
 * The activity that settles a call after its sub-agent's workflow has closed. It first ends the
 * sub-agent's run if the workflow left it open.
 */
export function childRequest(
  { clock }: Environment,
  { what: id }: Actor,
  facts: Facts,
): Request | undefined {
  const state = facts.calls.get(id)?.state;
  if (state === undefined || state === 'settled') return undefined;
  const { sub } = facts;
  if (sub !== undefined && !isTerminal(sub.status)) {
    return endRun('sub', sub.claimedStep, 'failed', clock);
  }
  return settleChild(id, sub?.status === 'completed', clock);
}

export function afterChild(env: Environment, actor: Actor, reply: Reply): Environment | string {
  switch (reply.kind) {
    case 'ended':
      return withActor(env, actor, { at: 'look' });
    case 'stored':
      return finishActor(wakeOthers(env, reply), actor);
    case 'nothing sent':
    case 'superseded':
    case 'stale_run':
    case 'already_completed':
      return finishActor(env, actor);
    default:
      return `P3, a sub-agent's end has a defined outcome: ${actor.what} got the reply ${reply.kind}`;
  }
}
