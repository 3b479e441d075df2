import {
  defineSearchAttributeKey,
  type SearchAttributePair,
  type TypedSearchAttributes,
} from '@temporalio/common';
import { metricMeter, setCurrentDetails, upsertSearchAttributes } from '@temporalio/workflow';
import type { CallLine, StepLine } from '../protocol/temporal.js';
import type { AgentState, CallRef, RunInput, RunStatus, Spent } from '../protocol/run.js';
import type { View } from '../run/loop.js';

/** Histogram of the time from begin or resume until the run next waits for people or ends. */
const LEG_SECONDS = 'gen_ai_invoke_agent_duration_seconds';
/** The run's details list at most this many steps of legs. */
const MAX_STEPS = 50;

const AgentSession = defineSearchAttributeKey('AgentSession', 'KEYWORD');
const AgentName = defineSearchAttributeKey('AgentName', 'KEYWORD');
const AgentStatus = defineSearchAttributeKey('AgentStatus', 'KEYWORD');
const AgentTenant = defineSearchAttributeKey('AgentTenant', 'KEYWORD');
const AgentModel = defineSearchAttributeKey('AgentModel', 'KEYWORD');
const AgentTurn = defineSearchAttributeKey('AgentTurn', 'INT');

/** Reads tenant and model from a run's search attributes; its sub-agents get the same. */
export function labelsOf(attributes: Pick<TypedSearchAttributes, 'get'>): {
  tenant: string | undefined;
  model: string | undefined;
} {
  return { tenant: attributes.get(AgentTenant), model: attributes.get(AgentModel) };
}

/** Returns the search attributes of a run that a workflow starts. */
export function startAttributes(
  { sessionId, agent, turn }: Pick<RunInput, 'sessionId' | 'agent' | 'turn'>,
  { tenant, model }: { tenant?: string | undefined; model?: string | undefined },
): SearchAttributePair[] {
  return [
    ...(tenant === undefined ? [] : [{ key: AgentTenant, value: tenant }]),
    ...(model === undefined ? [] : [{ key: AgentModel, value: model }]),
    { key: AgentSession, value: sessionId },
    { key: AgentName, value: agent },
    { key: AgentStatus, value: 'running' },
    { key: AgentTurn, value: turn },
  ];
}

/** Returns the search attributes of a run's next execution, which assumes that the run is at work. */
export const asAtWork = (attributes: TypedSearchAttributes): TypedSearchAttributes =>
  attributes.updateCopy([{ key: AgentStatus, value: 'running' }]);

type Phase = AgentState['phase'];

/** The run as operators see it in the Temporal UI: a status to filter by and details to read. */
export interface OperatorsView {
  show: (view: View) => void;
  /** Updates the usage, shown from now on. */
  spent: (spent: Spent | undefined) => void;
  /** Adds the steps of a leg. */
  steps: (lines: readonly StepLine[]) => void;
  ended: (status: RunStatus, steps: number) => void;
  state: () => AgentState;
}

export function createOperatorsView(input: RunInput): OperatorsView {
  const { runId, from } = input;
  let used = from?.spent;
  let state: AgentState = toState('model', from?.step ?? 0, []);
  let shown = '';
  let known: RunStatus = input.startAt === undefined ? 'running' : 'starting';
  let steps: readonly StepLine[] = [];
  const legs = metricMeter.createHistogram(LEG_SECONDS, 'float');
  /** Start of the current leg; undefined before it is at work and while it waits for people. */
  let legBegan: number | undefined;

  /** Each leg counts once: the SDK drops metrics recorded during replay. */
  function endLeg(): void {
    if (legBegan === undefined) return;
    legs.record((Date.now() - legBegan) / 1_000, { gen_ai_agent_name: input.agent });
    legBegan = undefined;
  }

  /** Writes only a changed status, because each write is an event in history. */
  function setStatus(status: RunStatus): void {
    if (status === known) return;
    known = status;
    if (input.searchAttributes) upsertSearchAttributes([{ key: AgentStatus, value: status }]);
  }

  function toState(phase: Phase, step: number, calls: readonly CallRef[]): AgentState {
    return {
      runId,
      step,
      phase,
      waitingFor: phase === 'waiting' ? [...calls] : [],
      ...(phase === 'waiting' && { waitingSince: Date.now() }),
      spent: used,
    };
  }

  function show(phase: Phase, step: number, calls: readonly CallRef[] = []): void {
    state = toState(phase, step, calls);
    setCurrentDetails([describeRun(input, state, calls), ...toStepTable(steps)].join('\n\n'));
  }

  return {
    show: (view) => {
      const [phase, calls] = phaseOf(view, input);
      const { step } = view.next;
      const key = JSON.stringify([phase, step, calls]);
      if (key === shown) return;
      shown = key;
      if (phase === 'waiting') endLeg();
      else if (phase !== 'start') legBegan ??= Date.now();
      show(phase, step, calls);
      setStatus(statusOf(phase, calls));
    },
    spent: (spent) => {
      used = spent ?? used;
    },
    steps: (lines) => {
      steps = [...steps, ...lines].slice(-MAX_STEPS);
    },
    ended: (status, steps) => {
      endLeg();
      show('ended', Math.max(state.step, steps));
      setStatus(status);
    },
    state: () => state,
  };
}

/** The run's phase, and the calls that it executes or waits for. */
function phaseOf(
  { next, working, people, asleep }: View,
  { startAt = 0 }: RunInput,
): [Phase, CallRef[]] {
  if (next.do !== 'open') return ['model', []];
  if (working.length > 0) return ['tools', [...working]];
  if (Date.now() < startAt) return ['start', []];
  const suspended = asleep.map((call): CallRef => ({ ...call, isSuspended: true }));
  return ['waiting', [...people, ...suspended]];
}

function statusOf(phase: Phase, calls: readonly CallRef[]): RunStatus {
  if (phase === 'start') return 'starting';
  if (phase === 'waiting') {
    const approval = calls.some(({ kind, isSuspended }) => kind === 'approval' && !isSuspended);
    return approval || calls.length === 0 ? 'waiting_approval' : 'waiting_tool';
  }
  const isDelegated = calls.length > 0 && calls.every(({ kind }) => kind === 'subagent');
  return isDelegated ? 'waiting_children' : 'running';
}

const PHASES: Record<Phase, string> = {
  start: 'waiting for its start',
  model: 'the model is speaking',
  tools: 'tools are running',
  waiting: 'waiting for a person',
  ended: 'ended',
};

/** Describes a run's position, waiting calls and usage in Markdown for the Temporal UI. */
export function describeRun(input: RunInput, state: AgentState, calls: readonly CallRef[]): string {
  const lines = [
    `**${input.agent}** · turn ${String(input.turn)} · step ${String(state.step)} · ${PHASES[state.phase]}`,
    ...calls.map(
      ({ toolName, toolCallId, kind }) => `- \`${toolName}\` (${kind}) \`${toolCallId}\``,
    ),
  ];
  if (state.phase === 'start')
    lines.push(`Begins at ${new Date(input.startAt ?? 0).toISOString()}`);
  if (state.waitingSince !== undefined)
    lines.push(`Since ${new Date(state.waitingSince).toISOString()}`);
  if (state.spent !== undefined) lines.push(`Used so far: ${formatSpent(state.spent)}`);
  if (input.parent !== undefined)
    lines.push(`Sub-agent of \`${input.parent.runId}\`, for \`${input.parent.toolCallId}\``);
  if (input.model !== undefined) lines.push(`Model: ${input.model}`);
  if (input.sessionUrl !== undefined) lines.push(`[Conversation](${input.sessionUrl})`);
  if (input.traceUrl !== undefined) lines.push(`[Trace](${input.traceUrl})`);
  return lines.join('\n\n');
}

/** Formats tokens, and dollars if the agent has prices (four decimals below a cent). */
function formatSpent({ tokens, microUsd }: Spent): string {
  const count = `${String(tokens).replace(/\B(?=(\d{3})+$)/g, ',')} tokens`;
  if (microUsd === undefined) return count;
  const dollars = (microUsd / 1_000_000).toFixed(microUsd < 10_000 ? 4 : 2);
  return `${count}, $${dollars}`;
}

/** Renders the steps of a run's legs as a Markdown table, or as nothing if there are none. */
function toStepTable(steps: readonly StepLine[]): string[] {
  if (steps.length === 0) return [];
  const rows = steps.map(
    ({ step, model = '', ms = '', input = '', output = '', calls = [], more }) => {
      const tokens = input === '' && output === '' ? '' : `${String(input)} / ${String(output)}`;
      const named = calls.map(toCell);
      if (more !== undefined) named.push(`${String(more)} more`);
      return `| ${String(step)} | ${model} | ${String(ms)} | ${tokens} | ${named.join('<br>')} |`;
    },
  );
  const head = ['| Step | Model | ms | Tokens in / out | Calls |', '|---|---|---|---|---|'];
  return [[...head, ...rows].join('\n')];
}

function toCell({ tool, ms, outcome }: CallLine): string {
  return `\`${tool}\` ${String(ms)} ms: ${outcome}`;
}
