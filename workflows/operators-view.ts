import { defineSearchAttributeKey } from '@temporalio/common';
import { setCurrentDetails, upsertSearchAttributes } from '@temporalio/workflow';
import type { AgentState, CallRef, RunInput, RunStatus } from '../protocol/run.js';

const AgentStatus = defineSearchAttributeKey('AgentStatus', 'KEYWORD');

/** What operators see of a run in the Temporal UI: status to filter by, details to read. */
export interface OperatorsView {
  show: (phase: AgentState['phase'], step: number, calls?: readonly CallRef[]) => void;
  ended: (status: RunStatus) => void;
  state: () => AgentState;
}

export function createOperatorsView(input: RunInput): OperatorsView {
  let state: AgentState = { runId: input.runId, step: 0, phase: 'model', waitingFor: [] };
  let known: RunStatus = 'running';

  /** One event in history, so only when the status really changes. */
  function setStatus(status: RunStatus): void {
    if (status === known) return;
    known = status;
    if (input.searchAttributes) upsertSearchAttributes([{ key: AgentStatus, value: status }]);
  }

  return {
    show: (phase, step, calls = []) => {
      state = {
        runId: input.runId,
        step,
        phase,
        waitingFor: phase === 'waiting' ? [...calls] : [],
      };
      setCurrentDetails(describe(input, state, calls));
      if (phase === 'waiting') {
        const approval = calls.some(({ kind }) => kind === 'approval');
        setStatus(approval || calls.length === 0 ? 'waiting_approval' : 'waiting_tool');
      } else {
        setStatus('running');
      }
    },
    ended: (status) => {
      state = { ...state, phase: 'ended', waitingFor: [] };
      setCurrentDetails(describe(input, state, []));
      setStatus(status);
    },
    state: () => state,
  };
}

const PHASES: Record<AgentState['phase'], string> = {
  model: 'the model is speaking',
  tools: 'tools are running',
  waiting: 'waiting for a person',
  ended: 'ended',
};

function describe(input: RunInput, state: AgentState, calls: readonly CallRef[]): string {
  const lines = [
    `**${input.agent}** · turn ${String(input.turn)} · step ${String(state.step)} · ${PHASES[state.phase]}`,
    ...calls.map(
      ({ toolName, toolCallId, kind }) => `- \`${toolName}\` (${kind}) \`${toolCallId}\``,
    ),
  ];
  if (input.model !== undefined) lines.push(`Model: ${input.model}`);
  if (input.sessionUrl !== undefined) lines.push(`[Conversation](${input.sessionUrl})`);
  return lines.join('\n\n');
}
