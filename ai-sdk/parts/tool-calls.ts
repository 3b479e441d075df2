import type { ChunkOf, StreamChunk } from '../../protocol/chunk.js';
import type { StreamProfile, UIStreamPart } from './ui-stream-part.js';

export interface ToolCallsOptions {
  profile: StreamProfile;
  /** Returns true for approvals that are already answered; their requests are left out. */
  isAnswered: (toolCallId: string) => boolean;
  /** Returns true for approvals that the reader may not give; requests come with their answers. */
  isWithheld: (toolCallId: string) => boolean;
  /** True if the client has earlier parts of the message, and may know calls not announced here. */
  isTail: boolean;
}

/** Converts tool chunks into parts, and tracks a turn's calls as the client knows them. */
export class ToolCalls {
  readonly #profile: StreamProfile;
  readonly #isAnswered: (toolCallId: string) => boolean;
  readonly #isWithheld: (toolCallId: string) => boolean;
  readonly #isTail: boolean;
  /** Calls whose arguments are streaming, with the text so far. */
  readonly #streaming = new Map<string, { toolName: string; text: string }>();
  readonly #announced = new Set<string>();
  /** Calls that the client carries out; none of their events has the flag `dynamic`. */
  readonly #byClient = new Set<string>();
  readonly #serverRun = new Set<string>();
  readonly #settled = new Set<string>();
  /** Requests that the tool's own rule answers. */
  readonly #automatic = new Map<string, ChunkOf<'tool_approval_request'>>();
  /** Calls whose requests were sent. */
  readonly #requested = new Set<string>();
  /** Calls of client tools that timed out; their results may still come. */
  readonly #timedOut = new Set<string>();

  constructor(options: ToolCallsOptions) {
    this.#profile = options.profile;
    this.#isAnswered = options.isAnswered;
    this.#isWithheld = options.isWithheld;
    this.#isTail = options.isTail;
  }

  add(chunk: ToolChunk, out: UIStreamPart[]): void {
    switch (chunk.type) {
      case 'tool_arg_stream_start':
        this.#startInput(chunk, out);
        break;
      case 'tool_arg_stream_delta':
        this.#writeInput(chunk, out);
        break;
      case 'tool_arg_stream_end':
        this.#endInput(chunk, out);
        break;
      case 'tool_start':
        this.#startCall(chunk, out);
        break;
      case 'tool_input_error':
        this.#failInput(chunk, out);
        break;
      case 'tool_approval_request':
        this.#askApproval(chunk, out);
        break;
      case 'tool_approval_response':
        this.#answerApproval(chunk, out);
        break;
      case 'tool_output_preliminary':
        this.#showPreliminary(chunk, out);
        break;
      case 'tool_output_error':
        this.#failCall(chunk.toolCallId, chunk.error, out);
        break;
      case 'tool_end':
        if (chunk.error === undefined) this.#endCall(chunk.toolCallId, chunk.result, out);
        else this.#failCall(chunk.toolCallId, chunk.error, out, chunk.errorCode);
        break;
    }
  }

  /** Forgets calls whose arguments were streaming when their attempt was discarded. */
  discardStreaming(): void {
    this.#streaming.clear();
  }

  #startInput(chunk: ChunkOf<'tool_arg_stream_start'>, out: UIStreamPart[]): void {
    const { toolCallId, toolName } = chunk;
    if (this.#announced.has(toolCallId) || this.#streaming.has(toolCallId)) return;
    this.#streaming.set(toolCallId, { toolName, text: '' });
    if (chunk.byClient === true) this.#byClient.add(toolCallId);
    out.push({ type: 'tool-input-start', toolCallId, toolName, ...this.#dynamic(toolCallId) });
  }

  #writeInput(chunk: ChunkOf<'tool_arg_stream_delta'>, out: UIStreamPart[]): void {
    const { toolCallId, delta } = chunk;
    const call = this.#streaming.get(toolCallId);
    if (delta === '' || call === undefined) return;
    call.text += delta;
    out.push({ type: 'tool-input-delta', toolCallId, inputTextDelta: delta });
  }

  #endInput(chunk: ChunkOf<'tool_arg_stream_end'>, out: UIStreamPart[]): void {
    const call = this.#streaming.get(chunk.toolCallId);
    const input = call === undefined ? undefined : parseInput(call.text);
    if (call !== undefined && input !== undefined) {
      this.#announce(chunk.toolCallId, call.toolName, input, out);
    }
  }

  #startCall(chunk: ChunkOf<'tool_start'>, out: UIStreamPart[]): void {
    const { toolCallId } = chunk;
    if (chunk.providerExecuted === true && !this.#serverRun.has(toolCallId)) {
      this.#serverRun.add(toolCallId);
      // The call was announced by its arguments alone, without `providerExecuted`.
      this.#announced.delete(toolCallId);
    }
    const isNew = !this.#streaming.has(toolCallId) && !this.#announced.has(toolCallId);
    if (isNew && chunk.byClient === true) this.#byClient.add(toolCallId);
    this.#announce(toolCallId, chunk.toolName, chunk.arguments, out);
  }

  #failInput(chunk: ChunkOf<'tool_input_error'>, out: UIStreamPart[]): void {
    const { toolCallId, toolName } = chunk;
    if (!this.#settle(toolCallId)) return;
    this.#streaming.delete(toolCallId);
    const input = chunk.partialInput ?? null;
    if (this.#byClient.has(toolCallId)) {
      // AI SDK 6 keeps no input of a static part whose input failed; the mark keeps pages from carrying the call out.
      this.#serverRun.add(toolCallId);
      this.#announce(toolCallId, toolName, input, out);
      const marks = this.#marks(toolCallId);
      out.push({ type: 'tool-output-error', toolCallId, errorText: chunk.error, ...marks });
      return;
    }
    this.#announced.add(toolCallId);
    out.push({
      type: 'tool-input-error',
      toolCallId,
      toolName,
      input,
      errorText: chunk.error,
      ...this.#dynamic(toolCallId),
      providerExecuted: true,
    });
  }

  /** Announces the call even if the request is left out, since its result follows. */
  #askApproval(chunk: ChunkOf<'tool_approval_request'>, out: UIStreamPart[]): void {
    const { toolCallId } = chunk;
    if (chunk.isAutomatic === true) {
      // No person is asked; the decision follows at once, and its outcome is announced then.
      this.#automatic.set(toolCallId, chunk);
      return;
    }
    this.#announce(toolCallId, chunk.toolName, chunk.input, out);
    const isAnswered = this.#isAnswered(toolCallId);
    if (this.#profile === 'common' && isAnswered) return;
    if (!isAnswered && this.#withholds(chunk)) return;
    this.#request(chunk, out);
  }

  #withholds({
    toolCallId,
    mayDecide,
  }: {
    toolCallId: string;
    mayDecide?: boolean | undefined;
  }): boolean {
    return mayDecide === false || this.#isWithheld(toolCallId);
  }

  #request(
    { toolCallId, approvalId }: { toolCallId: string; approvalId: string },
    out: UIStreamPart[],
  ): void {
    this.#requested.add(toolCallId);
    out.push({ type: 'tool-approval-request', approvalId, toolCallId });
  }

  #answerApproval(chunk: ChunkOf<'tool_approval_response'>, out: UIStreamPart[]): void {
    const { toolCallId, approvalId, approved, reason } = chunk;
    const request = this.#automatic.get(toolCallId);
    if (request !== undefined) {
      this.#automatic.delete(toolCallId);
      // An automatically approved call is a call like any other; its start follows.
      if (approved) return;
      this.#announce(toolCallId, request.toolName, request.input, out);
      this.#request(chunk, out);
    }
    // A client understands an answer only after its request.
    const isUnknown = this.#withholds(chunk) && !this.#requested.has(toolCallId);
    if (isUnknown && (this.#profile === 'v7' || !approved)) this.#request(chunk, out);
    if (this.#profile === 'v7') {
      out.push({ type: 'tool-approval-response', approvalId, approved, reason });
    }
    if (approved || !this.#isKnown(toolCallId) || !this.#settle(toolCallId)) return;
    out.push({ type: 'tool-output-denied', toolCallId });
  }

  #showPreliminary(chunk: ChunkOf<'tool_output_preliminary'>, out: UIStreamPart[]): void {
    const { toolCallId, result } = chunk;
    if (!this.#isKnown(toolCallId) || this.#settled.has(toolCallId)) return;
    const marks = this.#marks(toolCallId);
    const output = { output: result ?? null, preliminary: true as const };
    out.push({ type: 'tool-output-available', toolCallId, ...output, ...marks });
  }

  #endCall(toolCallId: string, result: unknown, out: UIStreamPart[]): void {
    if (!this.#isKnown(toolCallId) || !this.#settle(toolCallId)) return;
    const output = result ?? null;
    const marks = this.#marks(toolCallId);
    out.push({ type: 'tool-output-available', toolCallId, output, ...marks });
  }

  #failCall(toolCallId: string, errorText: string, out: UIStreamPart[], code?: string): void {
    if (!this.#isKnown(toolCallId) || !this.#settle(toolCallId)) return;
    if (code === 'client_tool_timeout') this.#timedOut.add(toolCallId);
    const marks = this.#marks(toolCallId);
    out.push({ type: 'tool-output-error', toolCallId, errorText, ...marks });
  }

  /** Announces argument streams again, for a reader that joins in the middle of them. */
  reopen(out: UIStreamPart[]): void {
    for (const [toolCallId, { toolName, text }] of this.#streaming) {
      out.push({ type: 'tool-input-start', toolCallId, toolName, ...this.#dynamic(toolCallId) });
      if (text !== '') out.push({ type: 'tool-input-delta', toolCallId, inputTextDelta: text });
    }
  }

  #announce(toolCallId: string, toolName: string, input: unknown, out: UIStreamPart[]): void {
    if (this.#announced.has(toolCallId)) return;
    this.#announced.add(toolCallId);
    this.#streaming.delete(toolCallId);
    out.push({
      type: 'tool-input-available',
      toolCallId,
      toolName,
      input: input ?? null,
      ...this.#marks(toolCallId),
    });
  }

  /** Returns the flag, the same for all events of a call: clients treat a mix as two calls. */
  #dynamic(toolCallId: string): { dynamic?: true } {
    return this.#byClient.has(toolCallId) ? {} : { dynamic: true };
  }

  /** Returns the flags; a call that waits for a person never has `providerExecuted`. */
  #marks(toolCallId: string): { dynamic?: true; providerExecuted?: true } {
    const mark = this.#serverRun.has(toolCallId) && { providerExecuted: true as const };
    return { ...this.#dynamic(toolCallId), ...mark };
  }

  /** Returns false for calls that were never announced: clients fail on their results. */
  #isKnown(toolCallId: string): boolean {
    return this.#isTail || this.#announced.has(toolCallId) || this.#streaming.has(toolCallId);
  }

  /** Returns true the first time: a call has one result, which may replace its timeout. */
  #settle(toolCallId: string): boolean {
    if (this.#timedOut.delete(toolCallId)) return true;
    if (this.#settled.has(toolCallId)) return false;
    this.#settled.add(toolCallId);
    return true;
  }
}

function parseInput(text: string): unknown {
  try {
    return JSON.parse(text === '' ? '{}' : text);
  } catch {
    // The JSON is broken; the start or the error that follows announces the call.
    return undefined;
  }
}

export type ToolChunk = Exclude<
  Extract<StreamChunk, { toolCallId: string }>,
  { type: 'run_paused' }
>;

export function isToolChunk(chunk: StreamChunk): chunk is ToolChunk {
  return chunk.type.startsWith('tool_');
}

/** Returns true for chunks that make a call, false for chunks about its outcome. */
export function isCallOpening(chunk: ToolChunk): boolean {
  return (
    chunk.type === 'tool_arg_stream_start' ||
    chunk.type === 'tool_start' ||
    chunk.type === 'tool_input_error' ||
    chunk.type === 'tool_approval_request'
  );
}
