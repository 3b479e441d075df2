import { withActor, type Actor, type Environment } from '../environment.js';
import { recordOf, type Facts } from '../record/facts.js';
import type { Reply } from '../record/play.js';
import { endRun, fold, takeOver } from '../requests/closing.js';
import type { Request } from '../requests/request.js';

/**
 * Ends a run from outside. It fences an unresponsive writer and commits the writer's text; without
 * an open model step it ends the run as it is.
 */
export function closingRequest(clock: Environment['clock'], actor: Actor, facts: Facts): Request {
  const { run, what, step, token = 0 } = actor;
  const status = what === 'sweep' ? 'failed' : 'interrupted';
  if (actor.at === 'fold') return fold(run, step, token, status, clock);
  const { claimedStep = 0, committedStep = 0 } = recordOf(facts, run) ?? {};
  if (actor.at === 'take over' && claimedStep > committedStep) return takeOver(run, claimedStep);
  return endRun(run, claimedStep, status, clock);
}

/** @param done the environment after the run's end, whoever ended it */
export function afterClosing(
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
