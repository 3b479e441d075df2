import type { ChunkOf, StreamChunk } from '../../protocol/chunk.js';
import { tryParseJson } from '../../protocol/limits.js';
import type { OfProvider } from './ui-message.js';
import type { StreamProfile, UIStreamPart } from './ui-stream-part.js';

export interface ToolCallsOptions {
  profile: StreamProfile;
  /** Returns true for approvals that are already answered; their requests are left out. */
  isAnswered: (toolCallId: string) => boolean;
  /** Returns true for approvals that the reader may not give; requests come with their answers. */
  isWithheld: (toolCallId: string) => boolean;
  /** True if the client has earlier parts of the message, and may know calls not announced here. */
  isTail: boolean;
  /** Denied calls that the client's message does not show as denied. */
  denied: ReadonlySet<string>;
}

/** A call as the client knows it. */
interface KnownCall {
  /** Arguments while they stream. */
  streaming?: { toolName: string; text: string } | undefined;
  isAnnounced?: boolean;
  /** True if the client carries it out; none of its events has the flag `dynamic`. */
  isByClient?: boolean;
  isServerRun?: boolean;
  /** Request that the tool's own rule answers. */
  automatic?: ChunkOf<'tool_approval_request'> | undefined;
  isRequested?: boolean;
  /** True if the request comes with its answer. */
  isLeftOut?: boolean;
  /** Who is asked, until there is an answer. */
  asked?: 'person' | 'page' | undefined;
  isSettled?: boolean;
  /** True if a client's result may still replace the timeout. */
  isTimedOut?: boolean;
}

type AnnouncedCall = OfProvider & { toolCallId: string; toolName: string; input?: unknown };

/** Converts tool chunks into parts, and tracks a turn's calls as the client knows them. */
export class ToolCalls {
  readonly #options: ToolCallsOptions;
  readonly #calls = new Map<string, KnownCall>();
  /** Denied calls whose denial the client has not received yet. */
  readonly #denied: Set<string>;
  /** True until a step whose call was denied by a rule has all its calls. */
  #isOpening = false;

  constructor(options: ToolCallsOptions) {
    this.#options = options;
    this.#denied = new Set(options.denied);
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
        // A tail lacks the call's start.
        this.#markNew(chunk);
        if (chunk.error === undefined) this.#endCall(chunk.toolCallId, chunk.result, out);
        else this.#failCall(chunk.toolCallId, chunk.error, out, chunk.errorCode);
        break;
    }
    this.#tellDenied(out);
  }

  /** Notes that the step has all its calls. */
  endStep(out: UIStreamPart[]): void {
    this.#isOpening = false;
    this.#tellDenied(out);
  }

  #tellDenied(out: UIStreamPart[]): void {
    if (this.#denied.size === 0 || this.#isOpening || this.#mustHold()) return;
    for (const toolCallId of this.#denied) out.push({ type: 'tool-output-denied', toolCallId });
    this.#denied.clear();
  }

  /**
   * Returns true while a stock page would not send the open calls' answers if a call beside them were denied. Without
   * the part with the answer, only the denial shows that a call is decided, so it then waits for pages' calls alone.
   */
  #mustHold(): boolean {
    return this.#options.profile === 'v7' ? this.#isAsking() : this.#isAsking('page');
  }

  #isAsking(whom?: 'page'): boolean {
    const calls = [...this.#calls.values()];
    return calls.some(({ asked }) => (whom === undefined ? asked !== undefined : asked === whom));
  }

  /** Forgets calls whose arguments were streaming when their attempt was discarded. */
  discardStreaming(): void {
    for (const call of this.#calls.values()) call.streaming = undefined;
  }

  #of(toolCallId: string): KnownCall {
    const known = this.#calls.get(toolCallId) ?? {};
    this.#calls.set(toolCallId, known);
    return known;
  }

  #startInput(chunk: ChunkOf<'tool_arg_stream_start'>, out: UIStreamPart[]): void {
    const { toolCallId, toolName } = chunk;
    const call = this.#of(toolCallId);
    if (call.isAnnounced || call.streaming !== undefined) return;
    call.streaming = { toolName, text: '' };
    if (chunk.byClient === true) call.isByClient = true;
    out.push({ type: 'tool-input-start', toolCallId, toolName, ...toDynamic(call) });
  }

  #writeInput(chunk: ChunkOf<'tool_arg_stream_delta'>, out: UIStreamPart[]): void {
    const { toolCallId, delta } = chunk;
    const { streaming } = this.#of(toolCallId);
    if (delta === '' || streaming === undefined) return;
    streaming.text += delta;
    out.push({ type: 'tool-input-delta', toolCallId, inputTextDelta: delta });
  }

  #endInput({ toolCallId }: ChunkOf<'tool_arg_stream_end'>, out: UIStreamPart[]): void {
    const { streaming } = this.#of(toolCallId);
    const input = streaming && tryParseJson(streaming.text || '{}');
    // After broken JSON, the start or the error that follows announces the call.
    if (streaming === undefined || input === undefined) return;
    this.#announce({ toolCallId, toolName: streaming.toolName, input }, out);
  }

  #startCall(chunk: ChunkOf<'tool_start'>, out: UIStreamPart[]): void {
    const { toolCallId } = chunk;
    const call = this.#of(toolCallId);
    if (chunk.providerExecuted === true && !call.isServerRun) {
      call.isServerRun = true;
      // The call was announced by its arguments alone, without `providerExecuted`.
      call.isAnnounced = false;
    }
    this.#markNew(chunk);
    call.asked = chunk.providerExecuted === true || call.isSettled ? undefined : 'page';
    this.#announce({ ...chunk, input: chunk.arguments }, out);
  }

  /** Notes that a page carries the call out, unless earlier events say otherwise. */
  #markNew(chunk: Pick<ChunkOf<'tool_start' | 'tool_end'>, 'toolCallId' | 'byClient'>): void {
    const { toolCallId, byClient } = chunk;
    const call = this.#of(toolCallId);
    const isNew = call.streaming === undefined && !call.isAnnounced;
    if (isNew && byClient === true) call.isByClient = true;
  }

  #failInput(chunk: ChunkOf<'tool_input_error'>, out: UIStreamPart[]): void {
    const { toolCallId, toolName, error: errorText } = chunk;
    const call = this.#of(toolCallId);
    if (!settle(call)) return;
    call.streaming = undefined;
    const input = chunk.partialInput ?? null;
    if (call.isByClient) {
      // AI SDK 6 keeps no input of a static part whose input failed; the mark keeps pages from carrying the call out.
      call.isServerRun = true;
      this.#announce({ toolCallId, toolName, input }, out);
      out.push({ type: 'tool-output-error', toolCallId, errorText, ...toMarks(call) });
      return;
    }
    call.isAnnounced = true;
    const marks = { ...toDynamic(call), providerExecuted: true } as const;
    out.push({ type: 'tool-input-error', toolCallId, toolName, input, errorText, ...marks });
  }

  /** Announces the call even if the request is left out, since its result follows. */
  #askApproval(chunk: ChunkOf<'tool_approval_request'>, out: UIStreamPart[]): void {
    const { toolCallId } = chunk;
    if (chunk.isAutomatic === true) {
      // No person is asked; the decision follows at once, and its outcome is announced then.
      this.#of(toolCallId).automatic = chunk;
      return;
    }
    this.#announce(chunk, out);
    const call = this.#of(toolCallId);
    call.asked = 'person';
    call.isLeftOut = this.#options.isAnswered(toolCallId) || this.#withholds(chunk);
    if (!call.isLeftOut) this.#request(chunk, out);
  }

  #withholds(asked: { toolCallId: string; mayDecide?: boolean | undefined }): boolean {
    return asked.mayDecide === false || this.#options.isWithheld(asked.toolCallId);
  }

  #request(asked: { toolCallId: string; approvalId: string }, out: UIStreamPart[]): void {
    const { toolCallId, approvalId } = asked;
    this.#of(toolCallId).isRequested = true;
    out.push({ type: 'tool-approval-request', approvalId, toolCallId });
  }

  #answerApproval(chunk: ChunkOf<'tool_approval_response'>, out: UIStreamPart[]): void {
    const { toolCallId, approvalId, approved, reason } = chunk;
    const { profile } = this.#options;
    const call = this.#of(toolCallId);
    call.asked = undefined;
    const request = call.automatic;
    if (request !== undefined) {
      call.automatic = undefined;
      // An automatically approved call is a call like any other; its start follows.
      if (approved) return;
      this.#isOpening = true;
      this.#announce(request, out);
      this.#request(chunk, out);
    }
    // A client understands an answer only after its request.
    const isWithheld = this.#withholds(chunk);
    const isTold = profile === 'v7' || (isWithheld && (!approved || this.#isAsking()));
    const isUnknown = call.isRequested !== true && (isWithheld || call.isLeftOut === true);
    if (isTold && isUnknown) this.#request(chunk, out);
    if (profile === 'v7')
      out.push({ type: 'tool-approval-response', approvalId, approved, reason });
    if (approved || !this.#isKnown(call) || !settle(call)) return;
    this.#denied.add(toolCallId);
  }

  #showPreliminary(chunk: ChunkOf<'tool_output_preliminary'>, out: UIStreamPart[]): void {
    const { toolCallId, result } = chunk;
    const call = this.#of(toolCallId);
    if (!this.#isKnown(call) || call.isSettled) return;
    const output = { output: result ?? null, preliminary: true as const };
    out.push({ type: 'tool-output-available', toolCallId, ...output, ...toMarks(call) });
  }

  #endCall(toolCallId: string, result: unknown, out: UIStreamPart[]): void {
    const call = this.#of(toolCallId);
    if (!this.#isKnown(call) || !settle(call)) return;
    const output = result ?? null;
    out.push({ type: 'tool-output-available', toolCallId, output, ...toMarks(call) });
  }

  #failCall(toolCallId: string, errorText: string, out: UIStreamPart[], code?: string): void {
    const call = this.#of(toolCallId);
    if (!this.#isKnown(call) || !settle(call)) return;
    if (code === 'client_tool_timeout') call.isTimedOut = true;
    out.push({ type: 'tool-output-error', toolCallId, errorText, ...toMarks(call) });
  }

  /** Announces argument streams again, for a reader that joins in the middle of them. */
  reopen(out: UIStreamPart[]): void {
    for (const [toolCallId, call] of this.#calls) {
      if (call.streaming === undefined) continue;
      const { toolName, text } = call.streaming;
      out.push({ type: 'tool-input-start', toolCallId, toolName, ...toDynamic(call) });
      if (text !== '') out.push({ type: 'tool-input-delta', toolCallId, inputTextDelta: text });
    }
  }

  #announce(announced: AnnouncedCall, out: UIStreamPart[]): void {
    const { toolCallId, toolName, input = null, providerMetadata } = announced;
    const call = this.#of(toolCallId);
    if (call.isAnnounced) return;
    call.isAnnounced = true;
    call.streaming = undefined;
    const told = providerMetadata && { providerMetadata };
    const made = { toolCallId, toolName, input, ...toMarks(call), ...told };
    out.push({ type: 'tool-input-available', ...made });
  }

  /** Returns false for calls that were never announced: clients fail on their results. */
  #isKnown({ isAnnounced, streaming }: KnownCall): boolean {
    return this.#options.isTail || isAnnounced === true || streaming !== undefined;
  }
}

/** Returns the flag, the same for all events of a call: clients treat a mix as two calls. */
function toDynamic({ isByClient }: KnownCall): { dynamic?: true } {
  return isByClient ? {} : { dynamic: true };
}

/** Returns the flags; a call that waits for a person never has `providerExecuted`. */
function toMarks(call: KnownCall): { dynamic?: true; providerExecuted?: true } {
  return { ...toDynamic(call), ...(call.isServerRun && { providerExecuted: true as const }) };
}

/** Returns true the first time: a call has one result, which may replace its timeout. */
function settle(call: KnownCall): boolean {
  const isFirst = !call.isSettled || call.isTimedOut === true;
  call.isSettled = true;
  call.asked = undefined;
  call.isTimedOut = false;
  return isFirst;
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
