import { beginChild, claim, commit, commitCut, discard, appendText } from '../requests/attempts.js';
import { afterClosing, closingRequest } from './closing.js';
import type { Facts } from '../record/facts.js';
import { finishActor } from '../workflows.js';
import type { Reply } from '../record/play.js';
import type { Request } from '../requests/request.js';
import { retry, tokenOf, withActor, type Actor, type Environment } from '../environment.js';

/** An attempt of a model step, from request to request. */

export function modelRequest({ clock }: Environment, actor: Actor, facts: Facts): Request {
  const { run, step, batch, failures = 0 } = actor;
  const attempt = { run, step, token: tokenOf(actor), ...(batch !== undefined && { batch }) };
  switch (actor.at) {
    case 'begin':
      return beginChild(run, clock);
    case 'claim':
      return claim(attempt, clock);
    case 'append':
      return appendText(attempt, clock);
    case 'commit':
      return commit(attempt, clock);
    case 'discard':
      return discard(attempt, failures + 1, clock);
    case 'commit cut':
      return commitCut(attempt, true, clock);
    default:
      return closingRequest(clock, actor, facts);
  }
}

export function afterModel(
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
