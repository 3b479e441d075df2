import type { ModelMessage } from 'ai';

/** The hooks `onInputStart`, `onInputDelta` and `onInputAvailable` of a tool of the AI SDK. */
export type InputHooks = Readonly<
  Partial<Record<'start' | 'delta' | 'available', (options: InputHookOptions) => unknown>>
>;

export interface InputHookOptions {
  readonly toolCallId: string;
  /** What the model was given, without the system prompt. */
  readonly messages: ModelMessage[];
  readonly abortSignal: AbortSignal;
  /** A piece of the JSON text, for `delta`. */
  readonly inputTextDelta?: string;
  /** As the schema gives it, for `available`. */
  readonly input?: unknown;
}
