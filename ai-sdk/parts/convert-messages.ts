import { FINISH_TOOL_NAME, formatApprovalId } from '../../protocol/ids.js';
import { tryParseJson } from '../../protocol/limits.js';
import type { Interruption } from '../../protocol/chunk.js';
import { toShownMetadata, toShownResult, formatBlockId } from '../../protocol/reply-fold.js';
import type {
  AssistantPart,
  AssistantRow,
  CallEvent,
  Decision,
  HelixMessage,
  Message,
  Row,
  ToolRow,
  UserRow,
} from '../../protocol/rows.js';
import type { OpenCall } from '../../store/contract/call-record.js';
import { toEventPart, toInterruptedMetadata } from './content-parts.js';
import type {
  UIApproval,
  UIMessage,
  UIMessagePart,
  UIToolPart,
  UIToolState,
} from './ui-message.js';

export interface ConvertOptions {
  /** Calls whose results are not among the rows yet. */
  openCalls?: readonly OpenCall[];
  /** Id of the message that may still get parts and so has no closing step. */
  unfinishedMessageId?: string;
  /** Returns an id to use instead of the stored one. */
  generateId?: (index: number, row: UserRow | AssistantRow) => string;
  includeReasoning?: boolean;
  /** False leaves calls without their results. */
  mergeToolResults?: boolean;
  /** Alias of `mergeToolResults`, which wins. */
  includeToolResults?: boolean;
  /** Leaves out user messages meant for the model only. Default: true. */
  filterHidden?: boolean;
}

/**
 * Converts transcript rows into UI messages with the same parts, order and keys that the live
 * stream builds in a client. All steps of a turn become one assistant message.
 */
export function convertToUIMessages(
  rows: readonly Row[],
  options: ConvertOptions = {},
): UIMessage[] {
  const results = collectResults(rows, options);
  const calls = new Map(options.openCalls?.map((call) => [call.spec.toolCallId, call]));
  const steps = toSteps(rows);
  const messages: UIMessage[] = [];
  const replies = new Map<string, Reply>();
  for (const row of rows) {
    if (row.role === 'tool') continue;
    if (row.role === 'user') {
      if (row.hidden === true && options.filterHidden !== false) continue;
      messages.push(toUserMessage(row, options.generateId?.(messages.length, row) ?? row.id));
      continue;
    }
    let reply = replies.get(row.messageId);
    if (reply === undefined) {
      const id = options.generateId?.(messages.length, row) ?? row.messageId;
      reply = { message: { id, role: 'assistant', parts: [] }, last: row, events: [] };
      replies.set(row.messageId, reply);
      messages.push(reply.message);
    }
    if (row.output !== undefined) reply.output = { data: row.output };
    if (row.display === true && row.parts.length === 0) continue;
    reply.last = row;
    markCut(reply.message, row.interrupted);
    showEvents(reply, row.sequence);
    if (row.joins !== true) reply.message.parts.push({ type: 'step-start' });
    const step = steps.get(row) ?? [];
    reply.message.parts.push(...toStepParts(row, step, results, calls, options));
    if (row.display !== true) reply.events = toCallEvents(row, results);
  }
  for (const [messageId, reply] of replies) {
    const { message, last } = reply;
    showEvents(reply);
    if (reply.output !== undefined) message.parts.push({ type: 'data-output', ...reply.output });
    if (messageId !== options.unfinishedMessageId) closeMessage(message, last);
  }
  return messages;
}

/** Marks a message as cut until the run continues. */
function markCut(message: UIMessage, interrupted: Interruption | undefined): void {
  if (interrupted === undefined && message.metadata === undefined) return;
  message.metadata = toInterruptedMetadata(interrupted);
}

interface Reply {
  message: UIMessage;
  last: AssistantRow;
  /** Custom events of the newest step's calls that the message does not have yet. */
  events: CallEvent[];
  output?: { data: unknown };
}

/** Returns the custom events of the step's calls in the order of the stream. */
function toCallEvents(row: AssistantRow, results: ReadonlyMap<string, ToolRow>): CallEvent[] {
  return row.parts
    .flatMap((part) => (part.type === 'tool-call' ? (results.get(part.toolCallId) ?? []) : []))
    .flatMap(({ events = [] }) => events)
    .sort((a, b) => a.sequence - b.sequence);
}

/** Adds the events before a sequence: calls may run while others wait for people. */
function showEvents({ message, events }: Reply, before = Infinity): void {
  while (events[0] !== undefined && events[0].sequence < before) {
    message.parts.push(toEventPart(events[0].chunk));
    events.shift();
  }
}

/** Returns the message of a turn that was stopped before the model's first output. */
export function toSilentMessage(messageId: string): UIMessage {
  return { id: messageId, role: 'assistant', parts: [{ type: 'step-start' }], metadata: {} };
}

/** Adds the step that keeps clients from reposting a reply that is empty or ends with calls. */
function closeMessage(message: UIMessage, last: AssistantRow): void {
  const parts = last.parts.filter((part) => !isFinishCall(part) && !isUnseen(part));
  const isSilent = message.parts.length === 0;
  if (isSilent || parts.some((part) => part.type === 'tool-call'))
    message.parts.push({ type: 'step-start' });
  else if (parts.length > 0) return;
  message.metadata ??= {};
}

function collectResults(rows: readonly Row[], options: ConvertOptions): Map<string, ToolRow> {
  const results = new Map<string, ToolRow>();
  if (!(options.mergeToolResults ?? options.includeToolResults ?? true)) return results;
  for (const { row } of options.openCalls ?? []) {
    if (row?.role === 'tool') results.set(row.toolCallId, row);
  }
  for (const row of rows) {
    if (row.role === 'tool') results.set(row.toolCallId, row);
    if (row.role !== 'assistant') continue;
    for (const part of row.parts) {
      if (part.type === 'tool-result') results.set(part.toolCallId, toResultRow(part));
    }
  }
  return results;
}

/** Converts a result that the provider executed into a tool row. */
function toResultRow(part: Extract<AssistantPart, { type: 'tool-result' }>): ToolRow {
  const { toolCallId, toolName } = part;
  const { result: output, error } = toShownResult(part);
  return { role: 'tool', toolCallId, toolName, ...(error === undefined ? { output } : { error }) };
}

function toUserMessage(row: UserRow, id: string): UIMessage {
  // Pages do not see the options that a program sets for the model's provider.
  const parts = row.parts.map(({ providerOptions: _of, ...part }): UIMessagePart => part);
  for (const [index, { at, ...part }] of (row.data ?? []).entries()) {
    parts.splice(at + index, 0, part);
  }
  return { id, role: 'user', parts, ...(row.metadata && { metadata: row.metadata }) };
}

/** Returns the parts of each row's step, with those that joined it later. */
function toSteps(rows: readonly Row[]): Map<Row, AssistantPart[]> {
  const steps = new Map<Row, AssistantPart[]>();
  let step: AssistantPart[] = [];
  for (const row of rows) {
    if (row.role !== 'assistant') continue;
    if (row.joins !== true) step = [];
    step.push(...row.parts);
    steps.set(row, step);
  }
  return steps;
}

function toStepParts(
  row: AssistantRow,
  step: readonly AssistantPart[],
  results: ReadonlyMap<string, ToolRow>,
  calls: ReadonlyMap<string, OpenCall>,
  options: ConvertOptions,
): UIMessagePart[] {
  const parts: UIMessagePart[] = [];
  const isBesideOpen = step.some(
    (part) =>
      part.type === 'tool-call' &&
      part.held !== true &&
      calls.get(part.toolCallId)?.state === 'waiting',
  );
  let reasonings = 0;
  for (const part of [...row.parts.filter((each) => !isLate(each)), ...row.parts.filter(isLate)]) {
    if (isFinishCall(part)) continue;
    if (part.type === 'tool-call') {
      // The row of the pause that asks shows this call.
      if (part.held === true) continue;
      const { toolCallId } = part;
      const approvalId = part.approvalId ?? formatApprovalId(row.runId, toolCallId);
      const result = results.get(toolCallId);
      const open = calls.get(toolCallId);
      parts.push(toToolPart({ call: part, approvalId, result, open, isBesideOpen }));
      continue;
    }
    if (isUnseen(part) || part.type === 'tool-result') continue;
    const { providerMetadata, ...shown } = part;
    const metadata = toShownMetadata(providerMetadata);
    if (shown.type === 'text') {
      parts.push({ type: 'text', text: shown.text, state: 'done', ...metadata });
    } else if (shown.type === 'reasoning') {
      const { text } = shown;
      const id = formatBlockId('reasoning', row.step, ++reasonings);
      if (options.includeReasoning === false) continue;
      parts.push({ type: 'reasoning', id, text, state: 'done', ...metadata });
    } else parts.push({ ...shown, ...metadata });
  }
  return parts;
}

/** Returns true for empty blocks, which only the provider needs. */
function isUnseen(part: AssistantPart): boolean {
  return (part.type === 'text' || part.type === 'reasoning') && part.text === '';
}

/** Returns true for calls that the live stream sends with their step's commit. */
function isLate(part: AssistantPart): boolean {
  return part.type === 'tool-call' && part.late === true;
}

function isFinishCall(part: AssistantPart): boolean {
  return part.type === 'tool-call' && part.toolName === FINISH_TOOL_NAME;
}

/** Codes of calls that were settled without being executed; their approvals were not used. */
const NOT_EXECUTED = new Set([
  'run_stopped',
  'run_failed',
  'client_tool_abandoned',
  'client_tool_failed',
]);

/** Kinds of calls that ask no person. */
const SERVER_RUN = new Set<string>(['server', 'subagent', 'provider']);

interface StoredCall {
  call: Extract<AssistantPart, { type: 'tool-call' }>;
  approvalId: string;
  result: ToolRow | undefined;
  /** Present until a later step includes the call. */
  open: OpenCall | undefined;
  /** True if another call of the step waits for a person. */
  isBesideOpen: boolean;
}

function toToolPart(stored: StoredCall): UIToolPart {
  const { toolName, toolCallId, kind, input, byClient, late, closed = false } = stored.call;
  const { providerMetadata } = closed ? {} : toShownMetadata(stored.call.providerMetadata);
  // The chunk of a call that was closed before it was shown does not say whose it was.
  const isStatic = byClient === true && !(closed && late === true);
  return {
    ...(isStatic ? { type: `tool-${toolName}` as const } : { type: 'dynamic-tool', toolName }),
    toolCallId,
    input: input ?? null,
    providerExecuted: SERVER_RUN.has(kind) || undefined,
    ...(providerMetadata && { callProviderMetadata: providerMetadata }),
    ...toState(stored),
  };
}

function toState({ call, approvalId, result, open, isBesideOpen }: StoredCall): UIToolState {
  const isApproval = call.kind === 'approval';
  const decision = result?.decision ?? open?.decision;
  if (result !== undefined) {
    const outcome = toOutcome(result, isApproval, approvalId, decision);
    if (!isBesideOpen || outcome.state !== 'output-denied') return outcome;
    // Stock pages do not send the answers of a step that holds a denied call.
    return { state: 'approval-responded', approval: outcome.approval };
  }
  if (!isApproval || open === undefined) return { state: 'input-available' };
  if (decision !== undefined) {
    return { state: 'approval-responded', approval: toApproval(approvalId, decision) };
  }
  if (open.state !== 'waiting' || open.mayDecide === false) return { state: 'input-available' };
  // A stock page would answer for the model's input, not for the edited one.
  if (open.spec.edited !== undefined) return { state: 'input-available' };
  return { state: 'approval-requested', approval: { id: approvalId } };
}

/**
 * Returns the result with the decision that led to it. Without a decision the part has no approval:
 * clients' validators reject a settled part whose approval was never answered.
 */
function toOutcome(
  result: ToolRow,
  isApproval: boolean,
  id: string,
  decision: Decision | undefined,
): UIToolState {
  if (result.denied === true) {
    return { state: 'output-denied', approval: { ...toApproval(id, decision), approved: false } };
  }
  const isUsed = decision?.approved ?? !NOT_EXECUTED.has(result.errorCode ?? '');
  const approval = isApproval &&
    isUsed && { approval: { ...toApproval(id, decision), approved: true as const } };
  if (result.error !== undefined) {
    return { state: 'output-error', errorText: result.error, ...approval };
  }
  return { state: 'output-available', output: result.output ?? null, ...approval };
}

/** Adds a changed input and the person who changed it; the part's own input stays the model's. */
function toApproval(id: string, decision: Decision | undefined): UIApproval {
  const { approved = true, reason, input, by, inputBy = by } = decision ?? {};
  return { id, approved, reason, input, by: input === undefined ? undefined : inputBy };
}

type HelixConvertOptions = Omit<ConvertOptions, 'generateId'> & {
  /** Returns an id to use instead of the stored one. Default for Helix messages: `msg-<index>`. */
  generateId?: ((index: number, message: never) => string) | undefined;
};

/** Converts transcript rows, or messages of the Helix packages, into UI messages. */
export function convertToAISDKMessages(
  messages: readonly Message[],
  options: HelixConvertOptions = {},
): UIMessage[] {
  return areRows(messages)
    ? convertToUIMessages(messages, options as ConvertOptions)
    : convertHelixMessages(messages as readonly HelixMessage[], options);
}

function areRows(messages: readonly Message[]): messages is readonly Row[] {
  return messages.every((message) => !('content' in message || 'toolCalls' in message));
}

function convertHelixMessages(
  messages: readonly HelixMessage[],
  { generateId, ...options }: HelixConvertOptions,
): UIMessage[] {
  const results = new Map<string, UIToolPart>();
  if (options.mergeToolResults ?? options.includeToolResults ?? true) {
    for (const message of messages) {
      if (message.role === 'tool') results.set(message.toolCallId, toResult(message));
    }
  }
  const converted: UIMessage[] = [];
  for (const message of messages) {
    if (message.role === 'tool') continue;
    const { role } = message;
    if (role === 'user' && message.metadata?.['hidden'] === true && options.filterHidden !== false)
      continue;
    const index = converted.length;
    const id = generateId?.(index, message as never) ?? `msg-${String(index)}`;
    const parts =
      role === 'assistant' ? toReplyParts(message, results, options) : toPromptParts(message);
    const metadata = role === 'user' ? message.metadata : undefined;
    converted.push({ id, role, parts, metadata });
  }
  return converted;
}

function toPromptParts(
  message: Extract<HelixMessage, { role: 'system' | 'user' }>,
): UIMessagePart[] {
  const files = message.role === 'user' ? (message.files ?? []) : [];
  return [
    { type: 'text', text: message.content },
    ...files.map((file) => ({ type: 'file' as const, ...file })),
  ];
}

function toReplyParts(
  { content = '', thinking = '', toolCalls = [] }: Extract<HelixMessage, { role: 'assistant' }>,
  results: ReadonlyMap<string, UIToolPart>,
  { includeReasoning = true }: HelixConvertOptions,
): UIMessagePart[] {
  const parts: UIMessagePart[] = [];
  if (thinking !== '' && includeReasoning) {
    parts.push({ type: 'reasoning', id: 'r1', text: thinking, state: 'done' });
  }
  if (content !== '') parts.push({ type: 'text', text: content });
  for (const { id: toolCallId, name: toolName, arguments: input } of toolCalls) {
    if (toolName === FINISH_TOOL_NAME) continue;
    const result = results.get(toolCallId) ?? { state: 'input-available' };
    parts.push({ ...result, type: 'dynamic-tool', toolName, toolCallId, input });
  }
  return parts;
}

function toResult({ content, error }: Extract<HelixMessage, { role: 'tool' }>): UIToolPart {
  const state =
    error === undefined
      ? { state: 'output-available', output: tryParseJson(content, content) }
      : { state: 'output-error', errorText: error };
  return state as UIToolPart;
}
