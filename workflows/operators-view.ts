import {
  defineSearchAttributeKey,
  type SearchAttributePair,
  type TypedSearchAttributes,
} from '@temporalio/common';
import { setCurrentDetails, upsertSearchAttributes } from '@temporalio/workflow';
import type { AgentState, CallRef, RunInput, RunStatus, Spent } from '../protocol/run.js';
import { describeRun } from './run-details.js';

const AgentSession = defineSearchAttributeKey('AgentSession', 'KEYWORD');
const AgentName = defineSearchAttributeKey('AgentName', 'KEYWORD');
const AgentStatus = defineSearchAttributeKey('AgentStatus', 'KEYWORD');
const AgentTenant = defineSearchAttributeKey('AgentTenant', 'KEYWORD');
const AgentModel = defineSearchAttributeKey('AgentModel', 'KEYWORD');
const AgentTurn = defineSearchAttributeKey('AgentTurn', 'INT');

/** Search attributes of a sub-agent's run that begins: tenant and model are its parent's. */
export function startAttributes(
  sessionId: string,
  agent: string,
  turn: number,
  parent: Pick<TypedSearchAttributes, 'get'>,
): SearchAttributePair[] {
  const tenant = parent.get(AgentTenant);
  const model = parent.get(AgentModel);
  return [
    ...(tenant === undefined ? [] : [{ key: AgentTenant, value: tenant }]),
    ...(model === undefined ? [] : [{ key: AgentModel, value: model }]),
    { key: AgentSession, value: sessionId },
    { key: AgentName, value: agent },
    { key: AgentStatus, value: 'running' },
    { key: AgentTurn, value: turn },
  ];
}

/** What operators see of a run in the Temporal UI: status to filter by, details to read. */
export interface OperatorsView {
  show: (phase: AgentState['phase'], step: number, calls?: readonly CallRef[]) => void;
  /** Takes note of what the run has used; shown from then on. */
  spent: (spent: Spent | undefined) => void;
  ended: (status: RunStatus) => void;
  state: () => AgentState;
}

export function createOperatorsView(input: RunInput): OperatorsView {
  const { runId, from } = input;
  let used = from?.spent;
  let state: AgentState = toState('model', from?.step ?? 0, []);
  let known: RunStatus = 'running';

  /** One event in history, so only when the status really changes. */
  function setStatus(status: RunStatus): void {
    if (status === known) return;
    known = status;
    if (input.searchAttributes) upsertSearchAttributes([{ key: AgentStatus, value: status }]);
  }

  function toState(
    phase: AgentState['phase'],
    step: number,
    calls: readonly CallRef[],
  ): AgentState {
    return {
      runId,
      step,
      phase,
      waitingFor: phase === 'waiting' ? [...calls] : [],
      ...(phase === 'waiting' && { waitingSince: Date.now() }),
      ...(used && { spent: used }),
    };
  }

  function show(phase: AgentState['phase'], step: number, calls: readonly CallRef[] = []): void {
    state = toState(phase, step, calls);
    setCurrentDetails(describeRun(input, state, calls));
  }

  return {
    show: (phase, step, calls = []) => {
      show(phase, step, calls);
      setStatus(statusOf(phase, calls));
    },
    spent: (spent) => {
      used = spent ?? used;
    },
    ended: (status) => {
      show('ended', state.step);
      setStatus(status);
    },
    state: () => state,
  };
}

function statusOf(phase: AgentState['phase'], calls: readonly CallRef[]): RunStatus {
  if (phase === 'waiting') {
    const approval = calls.some(({ kind }) => kind === 'approval');
    return approval || calls.length === 0 ? 'waiting_approval' : 'waiting_tool';
  }
  const isDelegated = calls.length > 0 && calls.every(({ kind }) => kind === 'subagent');
  return isDelegated ? 'waiting_children' : 'running';
}
