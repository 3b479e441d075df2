import { settleCall } from '../../session/answers.js';
import { begin, beginQueued } from '../../session/begin.js';
import { extendDeadline, leaseCall, startCall, takeCallId, type NewCall } from '../../session/calls.js';
import { beginChild } from '../../session/children.js';
import { end } from '../../session/end.js';
import { erase } from '../../session/erase.js';
import { addFile, removeFile } from '../../session/files.js';
import { recordStep, suspendCall } from '../../session/journal.js';
import { acceptedHash, readAccepted } from '../../session/messages.js';
import { editQueued, removeQueued } from '../../session/queue.js';
import type { Usage } from '../../session/record.js';
import { resumeRun, rewind } from '../../session/rerun.js';
import { speakerOf } from '../../session/say.js';
import { dropStaged, saveState, stageChanges } from '../../session/state.js';
import { claim, commit, compact, discard } from '../../session/steps.js';
import { stop } from '../../session/stop.js';
import { closeWriter, keepPage, mark, openWriter, pinTools, truncate } from '../../session/streams.js';
import { turnAt } from '../../session/turns.js';
import type { Read, Session } from '../../session/tree.js';
import { handOver, takeOver } from '../../session/writers.js';
import { LIMITS } from '../../protocol/limits.js';
import type { RequestOf, TransitionName } from '../transitions/library.js';
import { readStaged } from './session-texts.js';

/** What a request refers to by the number of an argument. */
type TextAt = (at: number | undefined) => string | undefined;

type Changes = {
  [Name in Exclude<TransitionName, 'branch' | 'readView' | 'recount'>]: (
    session: Session,
    request: RequestOf<Name>,
    text: TextAt,
  ) => unknown;
};

/** Numbers as they are given by the caller. */
function usageOf(text: string): Usage | undefined {
  return text === '' ? undefined : (text.split(' ').map(Number) as unknown as Usage);
}

/** The same as the caller reads them. */
export function usageText(usage: Usage | undefined): string | undefined {
  return usage?.join(' ');
}

function parsed<Value>(json: string | undefined): Value | undefined {
  return json === undefined ? undefined : (JSON.parse(json) as Value);
}

function must(json: string | undefined): string {
  if (json === undefined) throw new Error('a text is missing');
  return json;
}

type CallRequest = RequestOf<'commit'>['calls'][number];

function toCall(call: CallRequest, text: TextAt): NewCall {
  const ref = parsed<NewCall['child'] & object>(text(call.ref));
  return {
    ...call,
    spec: must(text(call.spec)),
    row: text(call.row),
    automatic: text(call.automatic),
    ask: text(call.ask),
    part: text(call.part),
    brief: text(call.brief),
    child: ref === undefined ? undefined : { ...ref, part: call.child ?? '' },
  } as NewCall;
}

function toMessages<Message extends { row: number }>(messages: readonly Message[], text: TextAt) {
  return messages.map((message) => ({ ...message, row: must(text(message.row)) }));
}

/** The changes of a conversation, as the store's methods request them. */
export const CHANGES: Changes = {
  acceptedMessages: (session, { ids }) => {
    const found = session.record === undefined ? [] : ids.filter((id) => acceptedHash(session, id) !== undefined);
    const runs = found.map((id) => {
      const turn = readAccepted(session, id)?.turn;
      return (turn === undefined ? undefined : turnAt(session, turn)?.run) ?? '';
    });
    return { ids: found, runs };
  },
  addFile: (session, request, text) => addFile(session, { ...request, file: must(text(request.file)) }),
  begin: (session, request, text) =>
    begin(session, {
      ...request,
      messages: toMessages(request.messages, text),
      stop: JSON.parse(must(text(request.stop))) as never,
      state: text(request.state),
      mode: request.mode as never,
    } as never),
  beginChild: (session, request) => beginChild(session, request),
  beginQueued: (session, request) => beginQueued(session, request),
  claim: (session, { wants, lost, ...request }) => {
    const { runId, name, token, agentType, step, runN, known, now } = request;
    const reply = claim(session, {
      writer: { runId, name, token, agentType, step },
      runN,
      known,
      now,
      budget: lost?.budget ?? LIMITS.attempts,
      perToken: lost?.perToken ?? 0,
    });
    if (reply.kind !== 'claimed') return reply;
    const { usage, ...rest } = reply;
    const claimed = { ...rest, ...(usage !== undefined && { usage: toUsage(usage) }) };
    if (wants === undefined) return claimed;
    const from = wants.born === reply.born && wants.rows <= reply.rowCount ? wants.rows : 0;
    const fits = reply.rowCount - from <= MOST_ROWS;
    const rows = fits && reply.rowCount > from ? session.rows.range(from, reply.rowCount - 1) : [];
    const isSmall = fits && rows.reduce((sum, row) => sum + Buffer.byteLength(row), 0) <= MOST_BYTES;
    return [
      JSON.stringify(claimed),
      String(isSmall ? from : reply.rowCount),
      isSmall ? rows : [],
      ...(wants.state ? readStaged(session) : []),
    ];
  },
  closeWriter: (session, request) => closeWriter(session, request),
  commit: (session, request, text) => {
    const { runId, name, token, agentType, step, status } = request;
    return commit(session, {
      writer: { runId, name, token, agentType, step },
      now: request.now,
      known: request.known,
      row: text(request.row),
      outcome: JSON.parse(must(text(request.outcome))) as never,
      checkpointId: request.checkpointId,
      answersStop: request.answersStop,
      final: status === undefined ? undefined : { status, error: parsed(text(request.error)) },
      usage: usageOf(request.usage),
      model: request.model,
      finishReason: request.finishReason,
      output: text(request.output) ?? text(request.outputText),
      chunks: Array.from({ length: request.chunkCount }, (_, at) => must(text(request.chunks + at))),
      calls: request.calls.map((call) => toCall(call, text)),
    } as never);
  },
  compact: (session, { writer, compaction, usage }, text) => {
    const reply = compact(session, { writer, compaction: text(compaction), usage: usageOf(usage) } as never);
    return reply.kind === 'kept' ? { ...reply, compaction: JSON.parse(reply.compaction) as unknown } : reply;
  },
  discard: (session, request) => discard(session, { ...request, usage: usageOf(request.usage) } as never),
  dropStaged: (session, { stepId }) => ({ toolCallIds: dropStaged(session, stepId) }),
  editQueued: (session, { messageId: id, expectedHash, hash, row, now }, text) =>
    editQueued(session, {
      message: { id, hash, row: must(text(row)) },
      expectedHash,
      speaker: speakerOf(session, now),
    }),
  end: (session, request, text) =>
    end(session, { ...request, error: parsed(text(request.error)), row: text(request.row) } as never),
  erase: (session, { message, noted, leftovers }, text) =>
    leftovers
      ? { kind: 'not_found' }
      : erase(session, {
          message: must(text(message)),
          ...(noted && { noted: { ...noted, rest: must(text(noted.rest)), act: must(text(noted.act)) } }),
        }),
  extendDeadline: (session, request, text) => extendDeadline(session, { ...request, act: text(request.act) } as never),
  handOver: (session, request) => handOver(session, request),
  keepPage: (session, { entries, ...request }, text) => keepPage(session, { ...request, entries: must(text(entries)) }),
  leaseCall: (session, request) => leaseCall(session, request),
  mark: (session, { message, ...request }, text) => mark(session, { ...request, message: must(text(message)) }),
  openWriter: (session, request) => openWriter(session, request),
  pinTools: (session, { runId, tools }, text) => {
    const reply = pinTools(session, { runId, tools: text(tools) } as never);
    return reply.kind === 'pinned' ? { ...reply, tools: JSON.parse(reply.tools) as unknown } : reply;
  },
  recordStep: (session, request, text) =>
    recordStep(session, { ...request, operation: text(request.operation), changes: text(request.changes) } as never),
  removeFile: (session, { id }) => removeFile(session, id),
  removeQueued: (session, { messageId, now }) =>
    removeQueued(session, { messageId, speaker: speakerOf(session, now) } as never),
  resumeRun: (session, request, text) => resumeRun(session, { ...request, act: text(request.act) } as never),
  rewind: (session, request, text) =>
    rewind(session, { ...request, messages: toMessages(request.messages, text), act: text(request.act) } as never),
  saveState: (session, { state, taken, ...request }, text) =>
    saveState(session, {
      ...request,
      state: must(text(state)),
      taken: taken.map(({ stepId, toolCallId, n }) => ({ step: stepId, call: toolCallId, n })),
    }),
  settleCall: (session, request, text) =>
    settleCall(session, {
      ...request,
      row: text(request.row),
      decision: text(request.decision),
      result: text(request.result),
      changes: text(request.changes),
      output: text(request.output) ?? text(request.outputText),
      chunks: Array.from({ length: request.chunkCount }, (_, at) => must(text(request.chunks + at))),
      act: text(request.act),
    } as never),
  stage: (session, { stepId, toolCallId, changes }, text) => {
    if (session.record?.agent === undefined) return { kind: 'not_found' };
    stageChanges(session, stepId, toolCallId, must(text(changes)));
    return { kind: 'staged' };
  },
  startCall: (session, { withState, ...request }) => {
    const reply = startCall(session, request);
    if (reply.kind !== 'execute' && reply.kind !== 'verify') return reply;
    const { texts, ...rest } = reply;
    const permission = {
      ...rest,
      call: JSON.parse(texts.call ?? 'null') as unknown,
      ...(texts.decision !== undefined && { decision: JSON.parse(texts.decision) as unknown }),
      ...(texts.journal !== undefined && { journal: JSON.parse(texts.journal) as unknown }),
    };
    return withState === true ? [JSON.stringify(permission), ...readStaged(session)] : permission;
  },
  stop: (session, { runId, record, now, act }, text) =>
    stop(session, { runId, stop: JSON.parse(must(text(record))) as never, now, act: text(act) } as never),
  suspendCall: (session, { wait, ...request }, text) =>
    suspendCall(session, {
      ...request,
      operation: must(text(request.operation)),
      changes: text(request.changes),
      wait: toCall(wait, text),
    } as never),
  takeCallId: (session, request) => takeCallId(session, request),
  takeOver: (session, request) => takeOver(session, request),
  truncate: (session, { step, after, agentId, now }) => truncate(session, { step, after, agentId, now } as never),
};

/** More rows or bytes than this are read by the caller. */
const MOST_ROWS = 100;
const MOST_BYTES = 1024 * 1024;

const NAMES = [
  'inputTokens',
  'outputTokens',
  'cachedTokens',
  'cacheWriteTokens',
  'reasoningTokens',
  'costMicroUsd',
] as const;

export function toUsage(usage: Usage): Record<string, number> {
  return Object.fromEntries(NAMES.map((name, at) => [name, usage[at] ?? 0] as const).filter(([, n], at) => at < 2 || n > 0));
}

/** What most changes of this kind ask for, so that it is read at once. */
export function wantsOf(name: string, part: string, request: object): Read[] {
  const { writer, name: own, step, toolCallId: id, messages } = request as {
    writer?: { name: string };
    name?: string;
    step?: number;
    toolCallId?: string;
    messages?: { id: string }[];
  };
  const wants: Read[] = [
    ['field', 'record', part, 'order'],
    ['rowCount', part],
  ];
  const writerName = writer?.name ?? (step === undefined ? undefined : own);
  if (writerName !== undefined) {
    for (const kind of ['w', 'b', 'e']) wants.push(['field', 'writers', part, `${kind}:${writerName}`]);
  }
  if (id !== undefined) {
    wants.push(['field', 'record', part, `call:${id}`], ['field', 'index', part, `s:${id}`]);
    wants.push(['field', 'index', '', `o:${id}`]);
  }
  if (name === 'startCall') wants.push(['field', 'content', part, `spec:${id ?? ''}`]);
  for (const message of messages ?? []) wants.push(['field', 'index', part, `m:${message.id}`]);
  if (name === 'begin') wants.push(['field', 'files', '', 'whose']);
  return wants;
}
