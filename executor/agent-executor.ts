import type {
  BeginInput,
  BeginResult,
  SettleCallResult,
  StopResult,
} from '../stores/session-store.js';
import type { StopRequest } from '../protocol/run.js';

/** What the HTTP side asks of the runtime. Every method throws HelixError `unavailable` when Redis or Temporal cannot be reached. */
export interface AgentExecutor {
  /** Accepts user messages and starts the workflow of the run made for them. */
  execute: (input: ExecuteInput) => Promise<BeginResult>;
  /** Decides about a pending approval; wakes the run if that was the batch's last answer. */
  submitToolResult: (input: ApprovalResponse) => Promise<SettleCallResult>;
  /** Stops the session's run; resolves as soon as the stop is recorded. */
  stop: (sessionId: string, stop: StopRequest) => Promise<StopResult>;
}

export type ExecuteInput = Omit<BeginInput, 'nonce' | 'now'>;

export interface ApprovalResponse {
  sessionId: string;
  kind: 'approval-response';
  toolCallId: string;
  approvalId: string;
  approved: boolean;
  reason?: string;
  by?: string;
}
