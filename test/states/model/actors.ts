import { isTerminal } from '../../../protocol/run.js';
import {
  actorText,
  nextAttempt,
  retry,
  spend,
  tokenOf,
  withActor,
  withoutActor,
  type Actor,
  type Environment,
} from './environment.js';
import { callOf, isCall } from './plan.js';
import { recordOf, type Facts } from './record/facts.js';
import type { Reply } from './record/play.js';
import * as requests from './requests.js';
import type { Request } from './requests.js';
import { closeWorkflow, finishActor, isAwaited, wakeOthers } from './workflows.js';

export interface Action {
  name: string;
  request?: Request | undefined;
  /** True if it happens eventually in any case: workers work, people answer, the sweep runs. */
  isFair: boolean;
  /** Returns the following environment, or the rule that the reply breaks. */
  then: (reply: Reply, before: Facts) => Environment | string;
}

export const NO_REPLY: Reply = { kind: 'nothing sent' };

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

/** An attempt of a model step, from request to request. */

function modelRequest({ clock }: Environment, actor: Actor, facts: Facts): Request {
  const { run, step, batch, failures = 0 } = actor;
  const attempt = { run, step, token: tokenOf(actor), ...(batch !== undefined && { batch }) };
  switch (actor.at) {
    case 'begin':
      return requests.beginChild(run, clock);
    case 'claim':
      return requests.claim(attempt, clock);
    case 'append':
      return requests.appendText(attempt, clock);
    case 'commit':
      return requests.commit(attempt, clock);
    case 'discard':
      return requests.discard(attempt, failures + 1, clock);
    case 'commit cut':
      return requests.commitCut(attempt, true, clock);
    default:
      return closingRequest(clock, actor, facts);
  }
}

function afterModel(
  env: Environment,
  actor: Actor,
  reply: Reply,
  before: Facts,
): Environment | string {
  const goTo = (at: Actor['at']): Environment => withActor(env, actor, { at });
  const done = (): Environment => finishActor(env, actor);
  switch (`${actor.at}: ${reply.kind}`) {
    case 'begin: begun':
      return goTo('claim');
    case 'claim: claimed': {
      const failures = Number(reply['failures']);
      return withActor(env, actor, { at: 'append', ...(failures > 0 && { failures }) });
    }
    case 'discard: discarded': {
      const { batch = 1 } = actor;
      const failures = Number(reply['failures']);
      return withActor(env, actor, { at: 'append', batch: batch + 1, failures });
    }
    case 'claim: stopped':
      return goTo('take over');
    case 'append: appended':
      return goTo(reply['stop'] === true ? 'commit cut' : 'commit');
    case 'commit: stopped':
      return goTo('commit cut');
    case 'claim: fenced':
    case 'append: fenced':
    case 'commit: fenced':
    case 'commit cut: fenced':
    case 'discard: fenced':
      return retry(env, actor);
    case 'claim: not_ready':
    case 'claim: done':
    case 'commit: committed':
    case 'commit: steered':
    case 'commit: done':
    case 'commit cut: committed':
    case 'commit cut: done':
    case 'begin: superseded':
    case 'begin: refused':
    case 'claim: superseded':
    case 'append: superseded':
    case 'commit: superseded':
    case 'commit cut: superseded':
    case 'discard: superseded':
      return done();
    default:
      return afterClosing(env, actor, reply, before, done);
  }
}

/**
 * Ends a run from outside. It fences an unresponsive writer and commits the writer's text; without
 * an open model step it ends the run as it is.
 */
function closingRequest(clock: Environment['clock'], actor: Actor, facts: Facts): Request {
  const { run, what, step, token = 0 } = actor;
  const status = what === 'sweep' ? 'failed' : 'interrupted';
  if (actor.at === 'fold') return requests.fold(run, step, token, status, clock);
  const { claimedStep = 0, committedStep = 0 } = recordOf(facts, run) ?? {};
  if (actor.at === 'take over' && claimedStep > committedStep)
    return requests.takeOver(run, claimedStep);
  return requests.endRun(run, claimedStep, status, clock);
}

/** @param done the environment after the run's end, whoever ended it */
function afterClosing(
  env: Environment,
  actor: Actor,
  reply: Reply,
  before: Facts,
  done: () => Environment,
): Environment | string {
  switch (`${actor.at}: ${reply.kind}`) {
    case 'take over: taken': {
      const step = recordOf(before, actor.run)?.claimedStep ?? actor.step;
      return withActor(env, actor, { at: 'fold', token: Number(reply['token']), step });
    }
    case 'take over: nothing':
      return withActor(env, actor, { at: 'end' });
    case 'fold: committed':
    case 'fold: done':
    case 'fold: fenced':
    case 'fold: superseded':
    case 'take over: ended':
    case 'take over: superseded':
    case 'end: ended':
    case 'end: superseded':
      return done();
    default:
      return `P3, the end of a run has a defined outcome: ${actor.at} got the reply ${reply.kind}`;
  }
}

/** An attempt at a server's tool, from request to request. */

function callRequest({ clock }: Environment, actor: Actor): Request {
  const { run, what: id, step } = actor;
  const attempt = { run, step, token: tokenOf(actor) };
  if (actor.at === 'start') return requests.startCall(attempt, id, clock);
  return actor.at === 'append'
    ? requests.appendEvent(attempt, id, clock)
    : requests.settleTool(attempt, id, clock);
}

function afterCall(
  env: Environment,
  actor: Actor,
  reply: Reply,
  before: Facts,
): Environment | string {
  switch (`${actor.at}: ${reply.kind}`) {
    case 'start: execute':
      return execute(env, actor, before);
    case 'append: appended':
      return withActor(env, actor, { at: 'settle' });
    case 'append: fenced':
    case 'append: superseded':
      // The record refuses the attempt's result too, and that reply gives the reason.
      return withActor(env, actor, { at: 'settle' });
    case 'start: fenced':
    case 'settle: fenced':
      return retry(env, actor);
    case 'start: settled':
    case 'start: refused':
    case 'start: stopped':
    case 'start: superseded':
    case 'settle: stored':
    case 'settle: already_completed':
    case 'settle: stale_run':
      return finishActor(env, actor);
    default:
      return `P3, a call has a defined outcome: ${actor.at} of ${actor.what} got the reply ${reply.kind}`;
  }
}

function execute(env: Environment, actor: Actor, before: Facts): Environment | string {
  const { kind, isIdempotent, hasEvents } = callOf(actor.what);
  const state = before.calls.get(actor.what)?.state;
  if (state === undefined || state === 'settled') {
    return `P4, a settled call is not executed: ${actor.what} is`;
  }
  if (kind === 'approval' && !env.marks.includes(`y${actor.what}`)) {
    return `P5, a call is executed only once a person has approved it: ${actor.what} is not approved`;
  }
  const mark = `x${actor.what}`;
  if (isIdempotent !== true && env.marks.includes(mark)) {
    return `P4, only an idempotent tool is executed twice: ${actor.what} is`;
  }
  const marks = env.marks.includes(mark) ? env.marks : [...env.marks, mark].sort();
  return { ...withActor(env, actor, { at: hasEvents === true ? 'append' : 'settle' }), marks };
}

/**
 * The activity that settles a call after its sub-agent's workflow has closed. It first ends the
 * sub-agent's run if the workflow left it open.
 */
function childRequest(
  { clock }: Environment,
  { what: id }: Actor,
  facts: Facts,
): Request | undefined {
  const state = facts.calls.get(id)?.state;
  if (state === undefined || state === 'settled') return undefined;
  const { sub } = facts;
  if (sub !== undefined && !isTerminal(sub.status)) {
    return requests.endRun('sub', sub.claimedStep, 'failed', clock);
  }
  return requests.settleChild(id, sub?.status === 'completed', clock);
}

function afterChild(env: Environment, actor: Actor, reply: Reply): Environment | string {
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
