import type { FailedCall, LeaseClientCall } from '../client/client-call.js';
import { pause } from '../client/patience.js';
import type { ToolHandlers, ToolOutput } from './tool-handlers.js';

/** The page's side of its client tools; may change from one render to the next. */
export interface RunnerSettings {
  toolHandlers: ToolHandlers;
  onError?: ((error: unknown, call: FailedCall) => void) | undefined;
  lease?: LeaseClientCall | undefined;
  addToolOutput: (output: ToolOutput) => unknown;
}

/** A call that waits for this page. */
export interface WaitingCall extends FailedCall {
  input: unknown;
}

/** Carries out the client tools of one session, each call once, side by side. */
export class ClientCallRunner {
  readonly #sessionId: string;
  readonly #begun = new Set<string>();
  readonly #leave = new AbortController();
  #settings: RunnerSettings | undefined;

  constructor(sessionId: string) {
    this.#sessionId = sessionId;
  }

  /** Takes up the calls that were not taken up before and have a handler. */
  run(calls: readonly WaitingCall[], settings: RunnerSettings): void {
    this.#settings = settings;
    for (const call of calls) {
      const { toolCallId } = call;
      if (this.#begun.has(toolCallId) || !Object.hasOwn(settings.toolHandlers, call.toolName))
        continue;
      this.#begun.add(toolCallId);
      void this.#carryOut(call, settings);
    }
  }

  /** Aborts what is being carried out; nothing is posted from now on. */
  abort(): void {
    this.#leave.abort();
  }

  async #carryOut(call: WaitingCall, settings: RunnerSettings): Promise<void> {
    const { toolCallId } = call;
    const over = new AbortController();
    const signal = AbortSignal.any([this.#leave.signal, over.signal]);
    try {
      if (!(await this.#mayRun(call, settings.lease, signal))) return;
      const result = await this.#handle(call, settings);
      if (result !== undefined) await settings.addToolOutput(result);
    } catch (error) {
      if (this.#leave.signal.aborted) return;
      // The lease could not be requested: the next render tries again.
      this.#begun.delete(toolCallId);
      this.#settings?.onError?.(error, { toolName: call.toolName, toolCallId });
    } finally {
      over.abort();
    }
  }

  /** The result to post for the call; undefined if it is not needed any more. */
  async #handle(
    { toolCallId, toolName: tool, input }: WaitingCall,
    { toolHandlers }: RunnerSettings,
  ): Promise<ToolOutput | undefined> {
    const { signal: abortSignal } = this.#leave;
    let output: ToolOutput;
    try {
      const result = await toolHandlers[tool]?.(input, { toolCallId, abortSignal });
      // A result without a value would not be posted at all.
      output = { tool, toolCallId, output: result ?? null };
    } catch (error) {
      if (abortSignal.aborted) return undefined;
      this.#settings?.onError?.(error, { toolName: tool, toolCallId });
      output = { tool, toolCallId, state: 'output-error', errorText: toErrorText(error) };
    }
    return abortSignal.aborted ? undefined : output;
  }

  /** Without a lease every page may. */
  async #mayRun(
    { toolName, toolCallId }: FailedCall,
    lease: LeaseClientCall | undefined,
    abortSignal: AbortSignal,
  ): Promise<boolean> {
    if (lease === undefined) return true;
    const call = { toolName, toolCallId, sessionId: this.#sessionId, abortSignal };
    for (;;) {
      const reply = await lease(call);
      if (abortSignal.aborted) return false;
      if (typeof reply === 'boolean') return reply;
      await pause(reply, abortSignal);
    }
  }
}

function toErrorText(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text === '' ? 'The tool failed.' : text;
}
