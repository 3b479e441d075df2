import type { NewCall } from '../../../store/contract/call-record.js';
import type { StreamChunk } from '../../../protocol/chunk.js';
import { formatApprovalId } from '../../../protocol/ids.js';

/**
 * Replies of the models. The first run has two steps of two calls each: an approval and a tool that
 * is not idempotent; then a sub-agent and a client's tool. The sub-agent calls an approval and an
 * idempotent tool. The second run calls a client's tool and an approval; the third replies with
 * text.
 */
export type RunName = 'one' | 'sub' | 'two' | 'three';

export interface PlannedRun {
  sessionId: string;
  runId: string;
  agent: string;
  /** Calls of each step; the last step has none and ends the run. */
  steps: readonly (readonly PlannedCall[])[];
}

export interface PlannedCall {
  id: string;
  kind: NewCall['kind'];
  /** Time that people have to answer. */
  deadlineMs?: number;
  /** May be executed again after a worker was lost. */
  isIdempotent?: true;
  hasEvents?: true;
  /** True if people are asked only when the conversation pauses, since a sub-agent may ask too. */
  isHeld?: true;
  /** The sub-agent's run, if the call is one. */
  child?: RunName;
}

export const SESSION = 's';
export const AGENT = 'tester';
export const OWNER = 'ann';

/** Returns the nonce of a run; runs of a conversation with the same nonce are the same run. */
export function nonceOf(number: number): string {
  return `n${String(number)}`;
}

const CHILD = `${SESSION}.1-d`;

export const RUNS: Record<RunName, PlannedRun> = {
  one: {
    sessionId: SESSION,
    runId: toRunId(1),
    agent: AGENT,
    steps: [
      [
        { id: 'a', kind: 'approval', deadlineMs: 1_800_000 },
        { id: 't', kind: 'server', hasEvents: true },
      ],
      [
        { id: 'd', kind: 'subagent', child: 'sub' },
        { id: 'b', kind: 'client', deadlineMs: 1_800_000, isHeld: true },
      ],
      [],
    ],
  },
  sub: {
    sessionId: CHILD,
    runId: `${CHILD}:1-n`,
    agent: 'helper',
    steps: [
      [
        { id: 'y', kind: 'approval', isHeld: true },
        { id: 'u', kind: 'server', isIdempotent: true, hasEvents: true },
      ],
      [],
    ],
  },
  two: {
    sessionId: SESSION,
    runId: toRunId(2),
    agent: AGENT,
    // If it resumes the first run, it begins at a later step and replies with text.
    steps: [
      [
        { id: 'c', kind: 'client' },
        { id: 'e', kind: 'approval' },
      ],
      [],
    ],
  },
  three: { sessionId: SESSION, runId: toRunId(3), agent: AGENT, steps: [[]] },
};

const CALLS = new Map(
  (Object.keys(RUNS) as RunName[]).flatMap((run) =>
    RUNS[run].steps.flatMap((calls, at) =>
      calls.map((call) => [call.id, { ...call, run, step: at + 1 }] as const),
    ),
  ),
);

function toRunId(number: number): string {
  return `${SESSION}:${String(number)}-${nonceOf(number)}`;
}

export type FoundCall = PlannedCall & { run: RunName; step: number };

export function callOf(id: string): FoundCall {
  const call = CALLS.get(id);
  if (call === undefined) throw new Error(`the plan has no call ${id}`);
  return call;
}

export function isCall(id: string): boolean {
  return CALLS.has(id);
}

export function allCalls(): FoundCall[] {
  return [...CALLS.values()];
}

/** Returns the call as its step's commit opens it; a sub-agent's questions wait for the pause. */
export function toNewCall(call: FoundCall): NewCall {
  const { id, kind, deadlineMs, isIdempotent, isHeld, child } = call;
  const base: NewCall = { toolCallId: id, toolName: toolOf(id), kind, input: { of: id } };
  return {
    ...base,
    ...(deadlineMs !== undefined && { deadlineMs }),
    ...(isIdempotent === true && { idempotent: true }),
    ...(isHeld === true && { ask: askFor(call) }),
    ...(child !== undefined && { child: toChild(child) }),
  };
}

function askFor({ id, kind, run, step }: FoundCall): StreamChunk {
  const { runId, agent: agentType } = RUNS[run];
  const base = { agentId: SESSION, agentType, step, timestamp: 0 };
  const which = { toolCallId: id, toolName: toolOf(id) };
  return kind === 'approval'
    ? {
        type: 'tool_approval_request',
        ...base,
        ...which,
        approvalId: formatApprovalId(runId, id),
        input: { of: id },
      }
    : { type: 'tool_start', ...base, ...which, arguments: { of: id } };
}

export function toolOf(id: string): string {
  return `tool-${id}`;
}

function toChild(run: RunName): NonNullable<NewCall['child']> {
  const { sessionId, runId, agent } = RUNS[run];
  return { sessionId, runId, agent, maxSteps: 9, message: 'fair' };
}

export function nameOfRun(runId: string): RunName | undefined {
  return (Object.keys(RUNS) as RunName[]).find((name) => RUNS[name].runId === runId);
}
