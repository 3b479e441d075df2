import {
  nextAttempt,
  retry,
  spend,
  withActor,
  withoutActor,
  type Actor,
  type Environment,
  actorText,
} from '../environment.js';
import { afterCall, callRequest } from '../actors/call.js';
import { afterChild, childRequest } from '../actors/child.js';
import { afterClosing, closingRequest } from '../actors/closing.js';
import { afterModel, modelRequest } from '../actors/model.js';
import { callOf, isCall } from '../plan.js';
import type { Facts } from '../record/facts.js';
import { closeWorkflow, isAwaited } from '../workflows.js';
import type { Action } from './action.js';

/** Returns each actor's next request and possible faults. */
export function actorActions(env: Environment, facts: Facts): Action[] {
  return env.actors.flatMap((actor) => {
    if (actor.at === 'wait') return [];
    const next = { name: actorText(actor), isFair: true, ...work(env, actor, facts) };
    const actions = [next];
    if (env.left.faults > 0) actions.push(...faults(env, actor, next));
    if (env.left.leases > 0 && hasLease(actor)) actions.push(loseLease(env, actor));
    return actions;
  });
}

function work(env: Environment, actor: Actor, facts: Facts): Pick<Action, 'request' | 'then'> {
  const { what } = actor;
  if (what === 'model') {
    return {
      request: modelRequest(env, actor, facts),
      then: (reply, before) => afterModel(env, actor, reply, before),
    };
  }
  if (!isCall(what)) {
    const done = (): Environment => {
      const rest = withoutActor(env, actor);
      return what === 'end' && !actor.isZombie ? closeWorkflow(rest, actor.run) : rest;
    };
    return {
      request: closingRequest(env.clock, actor, facts),
      then: (reply, before) => afterClosing(env, actor, reply, before, done),
    };
  }
  if (callOf(what).child !== undefined) {
    return {
      request: childRequest(env, actor, facts),
      then: (reply) => afterChild(env, actor, reply),
    };
  }
  return {
    request: callRequest(env, actor),
    then: (reply, before) => afterCall(env, actor, reply, before),
  };
}

/**
 * An actor's process dies before or after its request and the next attempt begins; or a reply is
 * lost and the request is sent again.
 */
function faults(env: Environment, actor: Actor, { name, request }: Action): Action[] {
  const paid = spend(env, 'faults');
  const died = isAwaited(actor) ? retry(paid, actor) : withoutActor(paid, actor);
  const actions: Action[] = [{ name: `${name}, dies before`, isFair: false, then: () => died }];
  if (actor.at === 'commit') {
    const failed = withActor(paid, actor, { at: 'discard' });
    actions.push({ name: `${name}, provider fails`, isFair: false, then: () => failed });
  }
  if (request !== undefined) {
    const sent = { request, isFair: false };
    actions.push({ ...sent, name: `${name}, dies after`, then: () => died });
    actions.push({ ...sent, name: `${name}, reply lost`, then: () => paid });
  }
  return actions;
}

/** Returns true for activities that write with a token, which workers hold leases for. */
function hasLease(actor: Actor): boolean {
  return isAwaited(actor) && actor.what !== 'end' && actor.what !== 'd';
}

/** Declares a live attempt lost: the next one begins while it still runs. */
function loseLease(env: Environment, actor: Actor): Action {
  const zombie = withActor(spend(env, 'leases'), actor, { isZombie: true });
  const then = (): Environment => nextAttempt(zombie, actor);
  return { name: `${actorText(actor)}, declared lost`, isFair: false, then };
}
