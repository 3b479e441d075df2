import type { Usage } from './chunk.js';
import type { NoticeType } from './notices.js';
import type { TerminalStatus } from './run.js';

/** How an attempt at a step ended. */
export type AttemptEnd =
  /** Its reply was stored. */
  | 'committed'
  /** Its reply was cut by a stop or a failure, and the part that people saw was stored. */
  | 'cut'
  /** Its provider failed: what it wrote was withdrawn. */
  | 'discarded'
  /** It was given back: the worker leaves, or an engine is away. */
  | 'left'
  /** Code of this project threw. */
  | 'fault'
  /** A newer attempt, or another run, took its place. */
  | 'fenced'
  /** The store is older than the run: it was restored from a backup. */
  | 'rewound'
  /** Too many attempts before it were lost. */
  | 'exhausted';

/** A model as an attempt used it. */
export interface UsedModel {
  agent: string;
  provider: string;
  model: string;
}

/**
 * Something that happened to a run, once for each time that it happened. The process that caused it
 * reports it, after the record has it: a process that dies in between reports nothing, so counts may
 * be too low, never too high.
 */
export type RunEvent =
  /** `code`: of a run that failed. */
  | { kind: 'run_ended'; agent: string; status: TerminalStatus; code?: string }
  /** `code`: why the provider's reply was withdrawn. */
  | { kind: 'attempt_ended'; outcome: AttemptEnd; code?: string }
  /** `code`: how the provider failed. */
  | ({ kind: 'model_called'; seconds: number; firstSeconds?: number; code?: string } & UsedModel)
  /** `tenant` is known only where it is counted; empty without one. */
  | ({
      kind: 'tokens_used';
      run: { sessionId: string; runId: string };
      usage: Usage & { costMicroUsd?: number };
      tenant?: string;
    } & UsedModel)
  /** `tool`: the name in the agent's definition; `other` for a name that only a model knows. */
  | { kind: 'tool_executed'; agent: string; tool: string; seconds: number; code?: string }
  | { kind: 'tool_retried'; tool: string }
  | {
      kind: 'call_answered';
      /** Who was asked: a person, or a client. */
      asked: 'approval' | 'client';
      decision: 'approved' | 'denied' | 'result' | 'error' | 'expired';
      /** The channel. */
      source: string;
      /** Since the question was asked; absent if that is unknown. */
      waitedSeconds?: number;
    }
  /** `found`: what the sweeper did about a session that needed something. */
  | { kind: 'session_swept'; found: string }
  /** A budget was found to be spent: once for each, and day or month. */
  | { kind: 'budget_spent'; of: 'user' | 'tenant'; period: 'day' | 'month' }
  /** A worker died: once for each, however often its lease is judged. */
  | { kind: 'lease_judged' }
  | { kind: 'attempt_taken_over'; isDone: boolean }
  /** Another worker judged this one, which lives. */
  | { kind: 'lease_lost' }
  /**
   * A notice and one of its receivers: it was taken, it was not taken and is tried again, or it was given
   * up. `seconds`: from a question until its first notice was taken.
   */
  | {
      kind: 'notice_tried';
      type: NoticeType;
      outcome: 'delivered' | 'retried' | 'failed';
      seconds?: number;
    };

/** Counts what happens to runs; it neither throws nor waits. */
export type RunMeter = (event: RunEvent) => void;

/** For processes that count nothing. */
export const NO_METER: RunMeter = () => undefined;

/**
 * Names a span by two texts: of its trace, and of the span within it. The tracer derives the ids of
 * both, so that it is the same span in whichever process, and however often, it is written.
 */
export interface SpanName {
  trace: string;
  span: string;
}

export type SpanAttributes = Record<
  string,
  string | number | boolean | readonly string[] | undefined
>;

/** Work that is over. */
export interface FinishedSpan {
  /** Its title: the operation, then what it is carried out on. */
  title: string;
  id: SpanName;
  /** The span above it in the same trace; absent: the first one. */
  parent?: string | undefined;
  /** `client` for a call of another service. */
  kind: 'internal' | 'client';
  /** Spans of other traces that led to it, by name or as a W3C `traceparent`. */
  links?: readonly (SpanName | string)[];
  /** ms since the epoch, with fractions. */
  startMs: number;
  endMs: number;
  attributes: SpanAttributes;
  /** Why it failed: a code. */
  error?: string | undefined;
  /** What people, models and tools wrote; asked for only if it is to be exported. */
  content?: (() => Record<string, unknown>) | undefined;
}

/** Writes spans of agent runs; it neither throws nor waits. */
export interface Tracer {
  write: (span: FinishedSpan) => void;
  /** Carries out work whose log lines, and spans of other libraries, belong below a span. */
  within: <T>(span: SpanName, work: () => T) => T;
  /** Carries out the work of a request, which may bring a W3C `traceparent`. */
  serve: <T>(traceparent: string | undefined, work: () => T) => T;
  /** The `traceparent` that the request in progress has brought. */
  request: () => string | undefined;
  /** A page that shows the trace, if there is one. */
  urlOf: (trace: { trace: string; runId: string; sessionId: string }) => string | undefined;
}
