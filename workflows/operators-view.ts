import { defineSearchAttributeKey, type SearchAttributePair } from '@temporalio/common';
import { setCurrentDetails, upsertSearchAttributes } from '@temporalio/workflow';
import type { AgentState, CallRef, RunInput, RunStatus } from '../protocol/run.js';

const AgentSession = defineSearchAttributeKey('AgentSession', 'KEYWORD');
const AgentName = defineSearchAttributeKey('AgentName', 'KEYWORD');
const AgentStatus = defineSearchAttributeKey('AgentStatus', 'KEYWORD');
const AgentTurn = defineSearchAttributeKey('AgentTurn', 'INT');

/** Search attributes of a run that begins. */
export function startAttributes(
  sessionId: string,
  agent: string,
  turn: number,
): SearchAttributePair[] {
  return [
    { key: AgentSession, value: sessionId },
    { key: AgentName, value: agent },
    { key: AgentStatus, value: 'running' },
    { key: AgentTurn, value: turn },
  ];
}

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
        ...(phase === 'waiting' && { waitingSince: Date.now() }),
      };
      setCurrentDetails(describe(input, state, calls));
      setStatus(statusOf(phase, calls));
    },
    ended: (status) => {
      state = { runId: input.runId, step: state.step, phase: 'ended', waitingFor: [] };
      setCurrentDetails(describe(input, state, []));
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
  if (state.waitingSince !== undefined) {
    lines.push(`Since ${new Date(state.waitingSince).toISOString()}`);
  }
  if (input.parent !== undefined) {
    lines.push(`Sub-agent of \`${input.parent.runId}\`, for \`${input.parent.toolCallId}\``);
  }
  if (input.model !== undefined) lines.push(`Model: ${input.model}`);
  if (input.sessionUrl !== undefined) lines.push(`[Conversation](${input.sessionUrl})`);
  return lines.join('\n\n');
}
