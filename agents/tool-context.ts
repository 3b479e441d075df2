import type { StreamChunk } from '../protocol/chunk.js';
import type { Principal } from '../protocol/responder.js';
import type { ToolWork } from '../protocol/tool-work.js';

/** Which call a tool is working on: stable for the life of the call, across attempts and workers. */
export interface ToolCallIdentity {
  readonly sessionId: string;
  readonly runId: string;
  /** The agent instance that made the call: the session of the agent or of the sub-agent. */
  readonly agentId: string;
  /** The name the agent was defined with. */
  readonly agentType: string;
  readonly toolCallId: string;
}

/** For whom a call is made, as the server has recorded it: nothing that a model or a client says. */
export interface ToolPeople {
  /**
   * The author of the message that the call answers; of a firing the one who created its schedule. It stays so
   * when another person repeats or continues the turn. The roles are those that the author had then.
   * Undefined if the server has not verified that person, as on a server without accounts.
   */
  readonly requester?: Principal | undefined;
  /** The one who approved this call, with the roles of that time. Undefined if no verified person did. */
  readonly approver?: Principal | undefined;
}

/** What a running tool gets beside its input. */
export interface ToolContext extends ToolCallIdentity, ToolPeople {
  /**
   * The same for every attempt of this call and for no other call. Pass it to the system that the
   * tool changes, so that a call repeated after a machine crash takes effect once.
   */
  readonly idempotencyKey: string;
  /** Attempt of this call, from 1. Above 1 only for tools that are `idempotent`. */
  readonly attempt: number;
  /** Fires when the run is stopped, the tool has timed out, or the worker is going away. */
  readonly abortSignal: AbortSignal;
  /**
   * The agent's own state, deeply frozen: as it was when the call began, with this call's changes.
   *
   * @throws StateError `state_missing` if the agent has no stateSchema
   */
  readonly getState: <State = unknown>() => State;
  /**
   * Changes the state by changing the draft, and sends the change to all viewers of the session. The
   * change is kept if the call settles, whether with a result or an error. If two parallel calls
   * change the same field, the one that settles last wins.
   *
   * @throws StateError if the state would not fit the agent's stateSchema, or become larger than
   *   1 MB or deeper than 500; HelixError `chunk_too_large` if the change is larger than 256 KB;
   *   nothing is changed then
   */
  readonly updateState: <State = Record<string, unknown>>(
    change: (draft: State) => unknown,
  ) => void;
  /**
   * Sends a custom event to all viewers of the session; resolves when it is stored.
   *
   * @throws HelixError `invalid_chunk` for what JSON cannot express or what is deeper than 500,
   *   `chunk_too_large` above 256 KB; no event is sent then
   */
  readonly emit: (eventName: string, data: unknown) => Promise<void>;
  /**
   * Shows what the call has so far in place of its result, until the next one or the result replaces
   * it; nothing of it is stored. A generator does this with each value that it yields. Values beyond
   * 64 KB, what JSON cannot express, and more than about ten a second are left out.
   */
  readonly showPreliminary: (result: unknown) => void;
  /** Step of the turn in which the call was made, from 1. */
  readonly stepNumber: number;
  /**
   * Writes chunks of an agent that this tool runs elsewhere into the session's stream, under that
   * agent's id; resolves when they are stored. A delta that ends within a character loses that character.
   *
   * @throws HelixError `invalid_chunk`, `chunk_too_large`
   */
  readonly forward: (chunks: readonly StreamChunk[]) => Promise<void>;
  /** True when the signal fired because another attempt of this call takes over. */
  readonly isHandedOver: () => boolean;
  /** The `services` that the worker was created with; empty by default. */
  readonly services: Readonly<Record<string, unknown>>;
  /**
   * Executes an activity or a Nexus operation, once for this call; what `activityTool` and `nexusTool`
   * do. Absent where there is no Temporal.
   *
   * @throws ToolError what it throws; `tool_outcome_unknown`; `second_work` for a second one in this call
   */
  readonly temporal?: { readonly execute: (work: ToolWork, input: unknown) => Promise<unknown> };
}

/** The call that `verify` is asked about. */
export type LostCall = ToolCallIdentity &
  ToolPeople &
  Pick<ToolContext, 'idempotencyKey' | 'abortSignal' | 'services'>;

/** What `verify` says of a call whose execution was lost. */
export type Verification<Output = unknown> =
  /** It took effect, and this is its result. */
  | { readonly outcome: 'done'; readonly result: Output }
  /** It did not, and never will: the call is executed. */
  | { readonly outcome: 'not_done' }
  /** The model gets an error that says so. */
  | { readonly outcome: 'unknown' };
