import { retry, tokenOf, withActor, type Actor, type Environment } from '../environment.js';
import { callOf } from '../plan.js';
import type { Facts } from '../record/facts.js';
import type { Reply } from '../record/play.js';
import { appendEvent, settleTool, startCall } from '../requests/attempts.js';
import type { Request } from '../requests/request.js';
import { finishActor } from '../workflows.js';

/** An attempt at a server's tool, from request to request. */

export function callRequest({ clock }: Environment, actor: Actor): Request {
  const { run, what: id, step } = actor;
  const attempt = { run, step, token: tokenOf(actor) };
  if (actor.at === 'start') return startCall(attempt, id, clock);
  return actor.at === 'append' ? appendEvent(attempt, id, clock) : settleTool(attempt, id, clock);
}

export function afterCall(
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
