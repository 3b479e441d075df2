import type { Call } from '../../../session/record.js';
import type { SessionRecord } from '../../../store/contract/sessions.js';
import { runNumberOf } from '../../../protocol/ids.js';
import { decideSweep } from '../../../runs/sweep-session.js';
import { actorActions, type Action } from './actors.js';
import { addActor, spend, workflowOf, type Environment } from './environment.js';
import { callOf, nameOfRun, nonceOf, type RunName } from './plan.js';
import type { Facts } from './record/facts.js';
import type { Reply } from './record/play.js';
import {
  answer,
  beginQueued,
  expire,
  post,
  result,
  resume,
  stop,
  type Policy,
  type Request,
} from './requests.js';
import { closeWorkflow, signalLook, startWorkflow, wakeAll, wakeEach } from './workflows.js';

export function actionsOf(env: Environment, facts: Facts): Action[] {
  return [
    ...actorActions(env, facts),
    ...messageActions(env, facts),
    ...answerActions(env, facts),
    ...stopActions(env, facts),
    ...sweepActions(env, facts),
    ...terminations(env),
    ...jump(env),
  ];
}

function terminations(env: Environment): Action[] {
  if (env.left.faults === 0) return [];
  return env.workflows
    .filter(({ isOpen }) => isOpen)
    .map(({ run }) => ({
      name: `workflow of ${run} terminated`,
      isFair: false,
      then: () => closeWorkflow(spend(env, 'faults'), run),
    }));
}

function jump(env: Environment): Action[] {
  if (env.left.jumps === 0) return [];
  const then = (): Environment => ({ ...spend(env, 'jumps'), clock: 1 });
  return [{ name: 'all deadlines pass', isFair: false, then }];
}

/**
 * Returns the request, and once more with its signal or start lost while the fault budget lasts.
 */
function withLoss(
  { left }: Environment,
  { name, request, isFair }: Pick<Action, 'name' | 'request' | 'isFair'>,
  lost: string,
  then: (isDelivered: boolean) => Action['then'],
): Action[] {
  const actions: Action[] = [{ name, request, isFair, then: then(true) }];
  if (left.faults > 0) {
    actions.push({ name: `${name}, ${lost} lost`, request, isFair: false, then: then(false) });
  }
  return actions;
}

/** Returns answers by people and pages, and the expiry of overdue calls. */
function answerActions(env: Environment, facts: Facts): Action[] {
  const { clock } = env;
  const actions: Action[] = [];
  for (const [id, call] of facts.calls) {
    const add = (name: string, request: Request, mark?: string): void => {
      actions.push(...answered(env, id, call, { name: `${name} ${id}`, request, mark }));
    };
    const { kind } = callOf(id);
    if (kind === 'approval') {
      add('approve', answer(id, true, clock), `y${id}`);
      add('deny', answer(id, false, clock));
    } else if (kind === 'client') {
      add('result of', result(id, clock));
    }
    if (call.deadline !== undefined) add('deadline of', expire(id, clock));
  }
  for (const id of facts.lapsed) {
    actions.push({
      name: `late result of ${id}`,
      request: result(id, clock),
      isFair: false,
      then: ({ kind }) =>
        kind === 'late' ? env : `P4, an answer is consumed once: a late result of ${id} is ${kind}`,
    });
  }
  return actions;
}

interface Answer {
  name: string;
  request: Request;
  mark: string | undefined;
}

function answered(
  env: Environment,
  id: string,
  { state, isLate }: Call,
  { name, request, mark }: Answer,
): Action[] {
  const isExpected = state === 'waiting' || isLate === true;
  return withLoss(env, { name, request, isFair: true }, 'signal', (isDelivered) => (reply) => {
    if (reply.kind !== 'stored') return env;
    if (!isExpected) return `P4, an answer is consumed once: ${id} is answered twice`;
    const marked = mark === undefined ? env : { ...env, marks: [...env.marks, mark].sort() };
    return isDelivered ? wakeAll(marked, callOf(id).run, reply) : spend(marked, 'faults');
  });
}

const POLICIES: readonly Policy[] = ['reject', 'queue', 'withdraw', 'steer', 'interrupt'];

/** Returns a person's next message or resumption of a run, and the start of queued messages. */
function messageActions(env: Environment, { record, accepted }: Facts): Action[] {
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
function queueActions(env: Environment, { runId }: SessionRecord, isFair: boolean): Action[] {
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

/** Returns a person's stops of the run: resumable, or for good. */
function stopActions(env: Environment, { record }: Facts): Action[] {
  if (env.left.stops === 0 || record === undefined) return [];
  const paid = spend(env, 'stops');
  return (['interrupt', 'abort'] as const).flatMap((mode) => {
    const sent = { name: mode, request: stop(mode, env.clock), isFair: false };
    return withLoss(env, sent, 'signal', (isDelivered) => (reply) => {
      if (reply.kind === 'nothing') return env;
      const runId = String(reply['runId']);
      if (reply.kind === 'stopping') return confirmStop(paid, runId, isDelivered);
      if (!isDelivered) return spend(paid, 'faults');
      const run = nameOfRun(runId);
      return run === undefined ? paid : signalLook(paid, run);
    });
  });
}

/** Expects the model to confirm the stop; if none does, the API ends the run. */
function confirmStop(env: Environment, runId: string, isDelivered: boolean): Environment {
  const run = nameOfRun(runId);
  if (run === undefined) return env;
  if (!isDelivered) return spend(env, 'faults');
  const at = { step: 0, n: 1, at: 'take over', isZombie: false } as const;
  return addActor(env, { run, what: 'api', ...at });
}

/** A record is swept after this long without a change; jumps of the clock do not count. */
const SILENT_MS = 10_000;

/**
 * Expiry of calls is a separate action. The model leaves out how long a run waits for its start:
 * the sweep may give it up at any time, or never.
 */
function sweepActions(env: Environment, { record }: Facts): Action[] {
  const run = nameOfRun(record?.runId ?? '');
  if (record === undefined || run === undefined) return [];
  const workflow = workflowOf(env, run);
  const state = workflow === undefined ? 'unknown' : workflow.isOpen ? 'running' : 'closed';
  const sweep = (then: () => Environment): Action => ({ name: 'sweep', isFair: true, then });
  const wake = (): Environment => wakeEach(signalLook(env, run), record.wakes ?? []);
  const moment = { now: record.updatedAt + SILENT_MS, startWithinMs: Infinity };
  switch (decideSweep(record, state, moment)) {
    case 'begin':
      return queueActions(env, record, true);
    case 'start': {
      const start = sweep(() => startWorkflow(env, run, record.runFromStep));
      if (record.status !== 'starting') return [start];
      const giveUp = (): Environment => close(env, run, 'sweep');
      return [start, { name: 'sweep gives up', isFair: false, then: giveUp }];
    }
    case 'wake':
      return [sweep(wake)];
    case 'stop':
      return [sweep(() => signalLook(env, run))];
    case 'enforce':
      return [sweep(() => close(env, run, 'api'))];
    case 'fail':
      return [sweep(() => close(env, run, 'sweep'))];
    default:
      return [];
  }
}

/** Ends the run from outside, for a stop (API) or as lost (sweep); one such process suffices. */
function close(env: Environment, run: RunName, what: 'api' | 'sweep'): Environment {
  if (env.actors.some((actor) => actor.what === what)) return env;
  return addActor(env, { run, what, step: 0, n: 1, at: 'take over', isZombie: false });
}
