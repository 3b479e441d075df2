import type { StepOutcome } from '../../../../protocol/run.js';
import {
  beginChild,
  claim,
  commit,
  commitCut,
  discard,
  outcomeOf,
  appendText,
} from '../requests/attempts.js';
import { afterClosing, closingRequest } from './closing.js';
import type { Facts } from '../record/facts.js';
import { takeOutcome } from '../workflows.js';
import type { Reply } from '../record/play.js';
import type { Request } from '../requests/request.js';
import {
  retry,
  tokenOf,
  withActor,
  withoutActor,
  type Actor,
  type Environment,
} from '../environment.js';

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
  const outcome = (of: StepOutcome): Environment => returned(env, actor, of);
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
    case 'claim: not_ready':
      return outcome({ kind: 'not_ready' });
    case 'append: appended':
      return goTo(reply['stop'] === true ? 'commit cut' : 'commit');
    case 'commit: committed':
      return outcome(outcomeOf(actor.run, actor.step));
    case 'commit: steered':
      return outcome({ kind: 'calls', step: actor.step, calls: [] });
    case 'commit: stopped':
      return goTo('commit cut');
    case 'commit cut: committed':
      return outcome({ kind: 'superseded' });
    case 'claim: done':
    case 'commit: done':
    case 'commit cut: done':
      return outcome(reply['outcome'] as StepOutcome);
    case 'claim: fenced':
    case 'append: fenced':
    case 'commit: fenced':
    case 'commit cut: fenced':
    case 'discard: fenced':
      return retry(env, actor);
    case 'begin: superseded':
    case 'begin: refused':
    case 'claim: superseded':
    case 'append: superseded':
    case 'commit: superseded':
    case 'commit cut: superseded':
    case 'discard: superseded':
      return outcome({ kind: 'superseded' });
    default:
      return afterClosing(env, actor, reply, before, () => outcome({ kind: 'superseded' }));
  }
}

function returned(env: Environment, actor: Actor, outcome: StepOutcome): Environment {
  const rest = withoutActor(env, actor);
  return actor.isZombie ? rest : takeOutcome(rest, actor.run, outcome);
}
