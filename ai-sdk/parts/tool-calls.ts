import type { ChunkOf, StreamChunk } from '../../protocol/chunk.js';
import type { StreamProfile, UIStreamPart } from './ui-stream-part.js';

export interface ToolCallsOptions {
  profile: StreamProfile;
  /** True for approvals that are answered already; their requests are left out. */
  isAnswered: (toolCallId: string) => boolean;
  /** True for approvals that the reader may not give; a request is shown with its answer. */
  isWithheld: (toolCallId: string) => boolean;
  /** True if the client has earlier parts of the message, and so may know calls that are not announced here. */
  isTail: boolean;
}

/** Turns tool chunks into parts, and keeps the state of a turn's calls as the client knows it. */
export class ToolCalls {
  readonly #profile: StreamProfile;
  readonly #isAnswered: (toolCallId: string) => boolean;
  readonly #isWithheld: (toolCallId: string) => boolean;
  readonly #isTail: boolean;
  /** Calls whose arguments are streaming, with the text so far. */
  readonly #streaming = new Map<string, { toolName: string; text: string }>();
  readonly #announced = new Set<string>();
  /** Calls that the client carries out: all of their events are without the flag `dynamic`. */
  readonly #byClient = new Set<string>();
  readonly #serverRun = new Set<string>();
  readonly #settled = new Set<string>();
  /** Requests that the tool's own rule answers. */
  readonly #automatic = new Map<string, ChunkOf<'tool_approval_request'>>();
  /** Calls whose requests were sent. */
  readonly #requested = new Set<string>();
  /** Client tools without an answer in time: their results may still come. */
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

  /** Forgets calls that were only streaming their arguments: their attempt was discarded. */
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
      // It was announced by its arguments alone, without the mark of the server's execution.
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

  /** The call is announced even where the request is left out: results follow it. */
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
      // Approved without asking, it is a call like any other; its start follows.
      if (approved) return;
      this.#announce(toolCallId, request.toolName, request.input, out);
      this.#request(chunk, out);
    }
    // A client knows an answer only by its request.
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

  /** Clients that have one part with the flag and one without take them for two calls. */
  #dynamic(toolCallId: string): { dynamic?: true } {
    return this.#byClient.has(toolCallId) ? {} : { dynamic: true };
  }

  /** Only calls announced as the server's own have the mark; those that wait for a person never do. */
  #marks(toolCallId: string): { dynamic?: true; providerExecuted?: true } {
    const mark = this.#serverRun.has(toolCallId) && { providerExecuted: true as const };
    return { ...this.#dynamic(toolCallId), ...mark };
  }

  /** Clients fail on a result for a call that was never announced to them. */
  #isKnown(toolCallId: string): boolean {
    return this.#isTail || this.#announced.has(toolCallId) || this.#streaming.has(toolCallId);
  }

  /** True the first time: a call has one result, which may replace its timeout. */
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
    // Broken JSON: the call is announced by what follows, its start or its error.
    return undefined;
  }
}

/** The chunks of calls. */
export type ToolChunk = Exclude<
  Extract<StreamChunk, { toolCallId: string }>,
  { type: 'run_paused' }
>;

export function isToolChunk(chunk: StreamChunk): chunk is ToolChunk {
  return chunk.type.startsWith('tool_');
}

/** True for chunks by which a model makes a call, false for those of its outcome. */
export function isCallOpening(chunk: ToolChunk): boolean {
  return (
    chunk.type === 'tool_arg_stream_start' ||
    chunk.type === 'tool_start' ||
    chunk.type === 'tool_input_error' ||
    chunk.type === 'tool_approval_request'
  );
}
