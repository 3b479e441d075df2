import type { Resumption } from '../../../protocol/run.js';
import type { Wake } from '../../../stores/contract/call-record.js';
import type { Environment } from './environment.js';
import { nameOfRun, type RunName } from './plan.js';
import type { Reply } from './record/play.js';
import { signalAnswer } from './workflows.js';

/** Signals the run that asked, and the others that a stored answer lets continue. */
export function wakeAll(env: Environment, run: RunName, reply: Reply): Environment {
  const resume = reply['resume'] as Resumption | undefined;
  return wakeOthers(resume === undefined ? env : signalAnswer(env, run, resume), reply);
}

export function wakeOthers(env: Environment, reply: Reply): Environment {
  return wakeEach(env, (reply['others'] as Wake[] | undefined) ?? []);
}

export function wakeEach(env: Environment, wakes: readonly Wake[]): Environment {
  let woken = env;
  for (const { runId, resume } of wakes) {
    const run = nameOfRun(runId);
    if (run !== undefined) woken = signalAnswer(woken, run, resume);
  }
  return woken;
}
