import type { RunError, StepOutcome, StopRequest, TerminalStatus } from './run.js';

/** The seam between workflow and worker: ids and small summaries only, never a transcript. */
export interface StepRef {
  sessionId: string;
  runId: string;
  agent: string;
  turn: number;
  step: number;
  maxSteps: number;
  /** Highest sequence that the run was told of. */
  known: number;
}

export interface CallActivityRef {
  sessionId: string;
  runId: string;
  agent: string;
  step: number;
  toolCallId: string;
}

export interface EndRef {
  sessionId: string;
  runId: string;
  agent: string;
  step: number;
  status: TerminalStatus;
  error?: RunError;
  /** Highest sequence that the run was told of. */
  known: number;
}

export interface ToolCallOutcome {
  kind: 'settled' | 'stopped' | 'superseded';
  /** Sequence of the result, if this attempt settled the call. */
  sequence?: number;
}

export interface RunActivities {
  /** One model call: claim, stream, commit. */
  modelStep: (ref: StepRef) => Promise<StepOutcome>;
  /** One tool execution: ask permission, execute, settle. */
  toolCall: (ref: CallActivityRef) => Promise<ToolCallOutcome>;
  /** Ends the run in Redis; harmless when it has ended. */
  endRun: (ref: EndRef) => Promise<TerminalStatus | 'superseded'>;
  /** Leaves a stop record, as the API does; for a cancel from the Temporal UI. */
  stopRun: (ref: { sessionId: string; runId: string; stop: StopRequest }) => Promise<void>;
}
