import type { Principal } from './responder.js';

/**
 * Work of a tool that Temporal executes elsewhere. Types only, since workflow code imports this
 * file.
 */

/** Executor of a call: an activity or a Nexus operation of the tool's author. */
export type ToolWork =
  | {
      kind: 'activity';
      name: string;
      taskQueue: string;
      options: ToolWorkTimes & {
        scheduleToStartTimeout?: number;
        startToCloseTimeout?: number;
        heartbeatTimeout?: number;
        retry: {
          initialInterval?: number;
          maximumInterval?: number;
          backoffCoefficient?: number;
          maximumAttempts?: number;
          nonRetryableErrorTypes?: string[];
        };
      };
    }
  | {
      kind: 'nexus';
      endpoint: string;
      service: string;
      name: string;
      options: ToolWorkTimes;
    };

interface ToolWorkTimes {
  scheduleToCloseTimeout: number;
}

/** The call that the work is for: the second argument of an activity. */
export interface ToolWorkCall {
  idempotencyKey: string;
  sessionId: string;
  runId: string;
  toolCallId: string;
  requester?: Principal;
  approver?: Principal;
}

export interface ToolWorkInput {
  work: ToolWork;
  input: unknown;
  call: ToolWorkCall;
}

/** Carries work out once for each call, however often it is asked to. @throws ToolError */
export type ExecuteToolWork = (
  request: ToolWorkInput,
  how: {
    signal: AbortSignal;
    /** True if the signal fired because another attempt takes over the wait. */
    isHandedOver: () => boolean;
    /** True if an earlier attempt may have started it. */
    isRepeated: boolean;
    /** True if Temporal may have forgotten an earlier attempt's work, so nothing is started. */
    mayBeGone: boolean;
  },
) => Promise<unknown>;
