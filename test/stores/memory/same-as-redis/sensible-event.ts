import { isTerminal } from '../../../../protocol/run.js';
import type { OpenCall } from '../../../../stores/contract/call-record.js';
import type { SessionView } from '../../../../stores/contract/sessions.js';
import type { NextEvent, SessionEvent } from './session-event.js';
import type { Knowledge } from './session-knowledge.js';

const TOKEN = 2;

/** What API, workflow and workers would do next. */
export function sensibleEvent(
  { choice, commit }: NextEvent,
  view: SessionView | undefined,
  known: Knowledge,
): SessionEvent {
  if (view === undefined || isTerminal(view.record.status)) {
    if (view !== undefined && view.queue.length > 0) return { do: 'begin queued' };
    return { do: 'begin', messages: 1, hidden: false, policy: 'reject', as: 'owner' };
  }
  const { claimedStep, committedStep } = view.record;
  const open = view.openCalls.filter(({ state }) => state !== 'settled');
  const call = open[choice % Math.max(1, open.length)];
  if (call !== undefined) return towardsResult(call, choice, known);
  if (claimedStep === committedStep) return { do: 'claim', token: TOKEN, step: 1, isAhead: false };
  if (choice < 4) return { do: 'say', token: TOKEN, batch: 1, isAhead: false };
  return { ...commit, token: TOKEN, isAhead: false };
}

function towardsResult({ spec, state }: OpenCall, choice: number, known: Knowledge): SessionEvent {
  const ids = known.calls.map(({ id }) => id);
  const call = ids.length - 1 - ids.indexOf(spec.toolCallId);
  if (state === 'started') return { do: 'finish', call, token: TOKEN };
  if (state !== 'waiting') return { do: 'start', call, token: TOKEN };
  if (choice === 0) return { do: 'expire', call, as: 'failed' };
  return spec.kind === 'approval'
    ? { do: 'decide', call, approved: choice > 3 }
    : { do: 'answer', call, isError: choice > 6 };
}
