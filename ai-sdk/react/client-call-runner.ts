import type { FailedCall, LeaseClientCall, ToolHandlers, ToolOutput } from './tool-handlers.js';

/** What a page brings to its client tools; may change from one render to the next. */
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
    const { toolCallId, toolName, input } = call;
    const { signal } = this.#leave;
    const isOver = (): boolean => signal.aborted;
    let result: { output: unknown } | { state: 'output-error'; errorText: string };
    try {
      if (!(await this.#mayRun(call, settings.lease)) || isOver()) return;
      const handler = settings.toolHandlers[toolName];
      const output = await handler?.(input, { toolCallId, abortSignal: signal });
      // A result without a value would not be posted at all.
      result = { output: output ?? null };
    } catch (error) {
      if (isOver()) return;
      this.#settings?.onError?.(error, { toolName, toolCallId });
      result = { state: 'output-error', errorText: toErrorText(error) };
    }
    if (!isOver()) await settings.addToolOutput({ tool: toolName, toolCallId, ...result });
  }

  /** Without anybody to ask, this page may. */
  async #mayRun(call: FailedCall, lease: LeaseClientCall | undefined): Promise<boolean> {
    if (lease === undefined) return true;
    const { signal: abortSignal } = this.#leave;
    const { toolName, toolCallId } = call;
    for (;;) {
      const sessionId = this.#sessionId;
      const said = await lease({ toolName, toolCallId, sessionId, abortSignal });
      if (typeof said === 'boolean') return said;
      await new Promise((resolve) => setTimeout(resolve, said));
      if (abortSignal.aborted) return false;
    }
  }
}

function toErrorText(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text === '' ? 'The tool failed.' : text;
}
