import type { Usage } from './chunk.js';
import type { NoticeType } from './notices.js';
import type { TerminalStatus } from './run.js';

/** Outcome of an attempt at a step. */
export type AttemptEnd =
  /** Its reply was stored. */
  | 'committed'
  /** Its reply was cut by a stop or a failure, and the part that people saw was stored. */
  | 'cut'
  /** Its provider failed, so its output was withdrawn. */
  | 'discarded'
  /** The worker gave it back, since the worker leaves or an engine is away. */
  | 'left'
  /** Code of this project threw. */
  | 'fault'
  /** A newer attempt, or another run, took its place. */
  | 'fenced'
  /** The store is older than the run: it was restored from a backup. */
  | 'rewound'
  /** Too many attempts before it were lost. */
  | 'exhausted';

export interface UsedModel {
  agent: string;
  provider: string;
  model: string;
}

/** Returns the name of a model's provider; the AI SDK names it with its endpoint: `openai.responses`. */
export function providerOf({ provider }: { readonly provider: string }): string {
  return provider.split('.')[0] ?? provider;
}

/**
 * An event of a run. The process that caused it reports it once, after the record has it; a process
 * that dies in between reports nothing, so counts may be too low, never too high.
 */
export type RunEvent =
  /** `code`: error of a failed run. */
  | { kind: 'run_ended'; agent: string; status: TerminalStatus; code?: string }
  /** `code`: reason for withdrawing the provider's reply. */
  | { kind: 'attempt_ended'; outcome: AttemptEnd; code?: string }
  /** `code`: error of the provider. */
  | ({ kind: 'model_called'; seconds: number; firstSeconds?: number; code?: string } & UsedModel)
  | ({
      kind: 'tokens_used';
      run: { sessionId: string; runId: string };
      usage: Usage & { costMicroUsd?: number };
    } & UsedModel)
  /** `tool`: the name in the agent's definition; `other` for a name that only a model knows. */
  | { kind: 'tool_executed'; agent: string; tool: string; seconds: number; code?: string }
  | { kind: 'tool_retried'; tool: string }
  | {
      kind: 'call_answered';
      asked: 'approval' | 'client';
      decision: 'approved' | 'denied' | 'result' | 'error' | 'expired';
      source: string;
      /** Time since the question was asked; absent if that is unknown. */
      waitedSeconds?: number;
    }
  /** `found`: the sweeper's act on a session that needed one. */
  | { kind: 'session_swept'; found: string }
  /** A budget is spent; reported once for each budget and period. */
  | { kind: 'budget_spent'; of: 'user' | 'tenant'; period: 'day' | 'month' }
  /** A worker died; reported once for each, however often its lease is judged. */
  | { kind: 'lease_judged' }
  | { kind: 'attempt_taken_over'; isDone: boolean }
  /** Another worker judged this one dead, though it lives. */
  | { kind: 'lease_lost' }
  /**
   * An attempt to deliver a notice to one receiver. `seconds`: from a question until its first
   * notice was delivered.
   */
  | {
      kind: 'notice_tried';
      type: NoticeType;
      outcome: 'delivered' | 'retried' | 'failed';
      seconds?: number;
    };

/** Counts what happens to runs; it neither throws nor waits. */
export type RunMeter = (event: RunEvent) => void;

export const NO_METER: RunMeter = () => undefined;

/**
 * Name of a span: a text for its trace, and one for the span within it. The tracer derives the ids
 * of both, so a span stays the same in whichever process, and however often, it is written.
 */
export interface SpanName {
  trace: string;
  span: string;
}

/** Names the span of a run's part in a leg of its conversation. */
export function legSpan(part: { runId: string; rootRunId: string; number: number }): SpanName {
  const number = String(part.number);
  return { trace: `${part.rootRunId}:${number}`, span: `${part.runId}:${number}` };
}

export type SpanAttributes = Record<
  string,
  string | number | boolean | readonly string[] | undefined
>;

export interface FinishedSpan {
  title: string;
  id: SpanName;
  /** The span above it in the same trace; absent for the first one. */
  parent?: string | undefined;
  /** `client` for a call of another service. */
  kind: 'internal' | 'client';
  /** Spans of other traces that led to it, by name or as a W3C `traceparent`. */
  links?: readonly (SpanName | string)[];
  startMs: number;
  endMs: number;
  attributes: SpanAttributes;
  error?: string | undefined;
  /** Text of people, models and tools; called only if it is to be exported. */
  content?: (() => Record<string, unknown>) | undefined;
}

export interface RequestTracer {
  /** Executes the work of a request, which may bring a W3C `traceparent`. */
  serve: <T>(traceparent: string | undefined, work: () => T) => T;
  /** Returns the `traceparent` of the request in progress. */
  request: () => string | undefined;
  /** Returns the address of a page that shows the trace, if there is one. */
  urlOf: (trace: { trace: string; runId: string; sessionId: string }) => string | undefined;
}

/** Writes spans of agent runs too. */
export interface Tracer extends RequestTracer {
  write: (span: FinishedSpan) => void;
  /** Executes work whose log lines, and spans of other libraries, belong below a span. */
  within: <T>(span: SpanName, work: () => T) => T;
}
