import { RUNS, allCalls, type FoundCall, type RunName } from './plan.js';
import { isLive, recordOf, type Facts } from './record/facts.js';
import {
  answer,
  appendText,
  beginChild,
  claim,
  commit,
  endRun,
  expire,
  modelWriter,
  post,
  settleChild,
  settleTool,
  startCall,
  takeOver,
  type Request,
} from './requests.js';

/** A request that must change nothing, with its allowed replies. */
export interface StaleRequest {
  promise: 'P1' | 'P4' | 'P5';
  request: Request;
  replies: readonly string[];
}

/** Tokens below and above those of all attempts. */
const LOW = 1;
const HIGH = 999;

/**
 * Returns requests that must change nothing: those of fenced writers, for finished work, of ended
 * runs, for calls that nobody approved, and a message that was already accepted.
 */
export function staleRequests(facts: Facts): StaleRequest[] {
  if (facts.record === undefined) return [];
  const stale: StaleRequest[] = [
    { promise: 'P4', request: post('u1', 'n9', 'reject', 0), replies: ['accepted'] },
  ];
  for (const run of Object.keys(RUNS) as RunName[]) {
    if (recordOf(facts, run) === undefined) continue;
    stale.push(...forSteps(facts, run));
    if (!isLive(facts, run)) stale.push(...forEndedRun(run));
  }
  for (const call of allCalls()) {
    if (recordOf(facts, call.run) !== undefined) stale.push(...forCall(facts, call));
  }
  return stale;
}

/** Returns requests for the newest committed step and for one that another attempt claimed. */
function forSteps(facts: Facts, run: RunName): StaleRequest[] {
  const { committedStep = 0, claimedStep = 0 } = recordOf(facts, run) ?? {};
  const stale: StaleRequest[] = [];
  for (let step = Math.max(1, committedStep); step <= claimedStep; step += 1) {
    const isCommitted = step <= committedStep;
    const owner = facts.owners.get(modelWriter({ run, step, token: 0 }).name);
    if (!isCommitted && owner === undefined) continue;
    stale.push(...forStep({ run, step, token: isCommitted ? HIGH : LOW }));
  }
  return stale;
}

function forStep(attempt: { run: RunName; step: number; token: number }): StaleRequest[] {
  const replies = ['done', 'superseded', 'fenced', 'stopped'];
  return [
    { promise: 'P1', request: claim(attempt, 0), replies },
    { promise: 'P1', request: appendText(attempt, 0), replies: ['superseded', 'fenced'] },
    { promise: 'P1', request: commit(attempt, 0), replies },
  ];
}

function forEndedRun(run: RunName): StaleRequest[] {
  const step = RUNS[run].steps.length;
  const attempt = { run, step, token: HIGH };
  const replies = ['done', 'superseded', 'ended'];
  const requests = [
    claim(attempt, 0),
    appendText(attempt, 0),
    commit(attempt, 0),
    takeOver(run, step),
    endRun(run, step, 'failed', 0),
  ];
  const stale = requests.map((request) => ({ promise: 'P4' as const, request, replies }));
  if (run !== 'sub') return stale;
  return [...stale, { promise: 'P4', request: beginChild(run, 0), replies: ['begun'] }];
}

const SETTLED = ['settled', 'superseded', 'already_completed', 'stale_run', 'not_pending'];

function forCall(
  { calls, owners }: Facts,
  { id, run, step, kind, child }: FoundCall,
): StaleRequest[] {
  const state = calls.get(id)?.state;
  const low = { run, step, token: LOW };
  const high = { run, step, token: HIGH };
  const stale: StaleRequest[] = [];
  const add = (promise: StaleRequest['promise'], request: Request, replies: string[]): void => {
    stale.push({ promise, request, replies });
  };
  const isApproval = kind === 'approval';
  if (state === undefined || state === 'settled') {
    add('P4', startCall(high, id, 0), [...SETTLED, 'refused', 'stopped']);
    add('P4', settleTool(high, id, 0), [...SETTLED, 'fenced']);
    if (child !== undefined) add('P4', settleChild(id, true, 0), SETTLED);
    if (isApproval) {
      add('P4', answer(id, true, 0), [...SETTLED, 'expired']);
      add('P4', expire(id, 1), [...SETTLED, 'expired']);
    }
  } else if (isApproval && state === 'waiting') {
    add('P5', startCall(high, id, 0), ['refused', 'stopped', 'superseded']);
    add('P5', settleTool(high, id, 0), ['fenced', 'stale_run', 'not_pending']);
  } else if (owners.has(`t:${id}`)) {
    add('P4', startCall(low, id, 0), ['fenced', 'stopped']);
    add('P4', settleTool(low, id, 0), ['fenced']);
  }
  return stale;
}
