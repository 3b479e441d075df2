import type { StreamChunk } from '../protocol/chunk.js';
import type { Principal } from '../protocol/actor.js';
import type { ToolWork } from '../protocol/temporal.js';

/** Identity of a tool's call, stable across attempts and workers. */
export interface ToolCallIdentity {
  readonly sessionId: string;
  readonly runId: string;
  /** Agent instance that made the call: the session of the agent or sub-agent. */
  readonly agentId: string;
  /** Name in the agent's definition. */
  readonly agentType: string;
  readonly toolCallId: string;
}

/** People behind a call, as the server recorded them; no model or client can set them. */
export interface ToolPeople {
  /**
   * Author of the message that the call answers; for a scheduled run, the schedule's creator. Stays
   * the same when another person repeats or continues the turn. Roles are those at that time.
   * Undefined if the server did not verify the person, as on a server without accounts.
   */
  readonly requester?: Principal | undefined;
  /** Approver, with the roles at that time. Undefined if no verified person approved. */
  readonly approver?: Principal | undefined;
}

/** Context of a running tool. */
export interface ToolContext extends ToolCallIdentity, ToolPeople {
  /**
   * Shared by all attempts of this call and unique to it. Pass it to the system that the tool
   * changes, so that a call repeated after a crash takes effect once.
   */
  readonly idempotencyKey: string;
  /** Attempt of this call, from 1. Above 1 only for tools that are `idempotent`. */
  readonly attempt: number;
  /** Fires when the run is stopped, the tool times out, or the worker shuts down. */
  readonly abortSignal: AbortSignal;
  /**
   * Returns the agent's state, deeply frozen: as the call began, with this call's changes.
   *
   * @throws StateError `state_missing` if the agent has no stateSchema
   */
  readonly getState: <State = unknown>() => State;
  /**
   * Changes the state through the draft, and sends the change to all viewers of the session. The
   * change is kept if the call settles, with a result or an error. If two parallel calls change the
   * same field, the one that settles last wins.
   * @throws StateError if the state would not fit the agent's stateSchema, or become larger than
   *   1 MB or deeper than 500; HelixError `chunk_too_large` if the change is larger than 256 KB;
   *   nothing is changed then
   */
  readonly updateState: <State = Record<string, unknown>>(
    change: (draft: State) => unknown,
  ) => void;
  /**
   * Sends a custom event to all viewers of the session; resolves when it is stored. A tool need not
   * await it.
   *
   * @throws HelixError `invalid_chunk` for what JSON cannot express or what is deeper than 500,
   *   `chunk_too_large` above 256 KB; no event is sent then
   */
  readonly emit: (eventName: string, data: unknown) => Promise<void>;
  /**
   * Shows a preliminary result until the next one or the final result replaces it; it is not
   * stored. A generator does so with each yielded value. Values beyond 64 KB, values that JSON
   * cannot express, and more than about ten a second are dropped.
   */
  readonly showPreliminary: (result: unknown) => void;
  /** Step of the turn in which the call was made, from 1. */
  readonly stepNumber: number;
  /**
   * Writes chunks of an agent that this tool runs elsewhere to the session's stream, under its own
   * id; resolves when they are stored. A tool need not await it. A delta that ends within a character
   * loses it.
   *
   * @throws HelixError `invalid_chunk`, `chunk_too_large`
   */
  readonly forward: (chunks: readonly StreamChunk[]) => Promise<void>;
  /** True if the signal fired because another attempt of this call takes over. */
  readonly isHandedOver: () => boolean;
  /** The worker's `services`; empty by default. */
  readonly services: Readonly<Record<string, unknown>>;
  /**
   * Executes an activity or a Nexus operation, once per call; `activityTool` and `nexusTool` use
   * it. Absent without Temporal.
   *
   * @throws ToolError of the work; `tool_outcome_unknown`; `second_work` for a second one
   */
  readonly temporal?: { readonly execute: (work: ToolWork, input: unknown) => Promise<unknown> };
}

/** Input of `verify`. */
export type LostCall = ToolCallIdentity &
  ToolPeople &
  Pick<ToolContext, 'idempotencyKey' | 'abortSignal' | 'services'>;

/** Answer of `verify` about a lost execution. */
export type Verification<Output = unknown> =
  /** The call took effect with this result. */
  | { readonly outcome: 'done'; readonly result: Output }
  /** The call took no effect and never will, so it is executed. */
  | { readonly outcome: 'not_done' }
  /** The model gets an error that reports the doubt. */
  | { readonly outcome: 'unknown' };
