import type { StreamChunk } from '../../../protocol/chunk.js';
import type { JSONPatchOperation } from '../../../protocol/json-patch.js';
import type { Decision, Row, ToolRow } from '../../../protocol/rows.js';
import type { UserMessage } from '../../contract/runs.js';
import { equal, includes } from '../assertions.js';
import { AGENT, newNonce, newSessionId, userMessage } from '../fixtures.js';
import { asStored, pointerTo } from '../hostile.js';
import { drive, type SessionDriver } from '../session-driver.js';
import {
  toBase,
  toCalls,
  toMessage,
  toReply,
  toSpec,
  type HostileLife,
  type Stores,
} from './hostile-inputs.js';
import { endCall, speak, speakAsTool } from './hostile-speech.js';

/** Plays the session and checks along the way that every value is read back unchanged. */
export async function liveHostile(stores: Stores, life: HostileLife): Promise<void> {
  const { store } = stores;
  const session = drive(stores);
  const { values, objects, texts, messageIds, callIds, stateKey, toolName } = life;
  const [s = '', a = '', c = ''] = callIds.map((id) => id.toWellFormed());
  const [first, waiting, edited] = messageIds.map((id, at) => toMessage(id, life, at));
  if (first === undefined || waiting === undefined || edited === undefined) return;

  const state = objects[0] ?? {};
  const begun = await session.begin({ messages: [first], state, by: texts[0] ?? '' });
  if (begun.kind !== 'begun') throw new Error(begun.kind);
  const { runId, messageId: replyId } = begun.run;
  const reply = toReply(life, runId, replyId);
  const spoken = await speak(stores, session, life, runId);
  const writer = session.writer(runId, 1, 1);
  const calls = toCalls(life);
  const shown: StreamChunk[] = calls.map(({ toolCallId, input }) => ({
    type: 'tool_approval_request',
    ...toBase(session.id),
    toolCallId,
    toolName,
    approvalId: `${runId}::${toolCallId}`,
    input,
  }));
  includes(await session.commit(writer, { row: reply, calls, chunks: shown }), {
    kind: 'committed',
  });
  spoken.push(...shown);
  const view = await store.sessions.view(session.id);
  equal(view?.rows, asStored([first.row, reply]));
  includes(view?.openCalls, asStored(calls.map((call) => ({ spec: toSpec(call) }))));

  // The tool emits an event and changes the state while a message arrives.
  includes(await session.begin({ messages: [waiting], policy: 'queue', by: texts[1] ?? '' }), {
    kind: 'queued',
  });
  equal((await store.queue.read(session.id))[0]?.messages, asStored([waiting]));
  includes(await session.start(runId, 1, s), asStored({ kind: 'execute', call: toSpec(calls[0]) }));
  const change: JSONPatchOperation = { op: 'add', path: pointerTo(stateKey), value: 'changed' };
  const written = await speakAsTool(stores, session, life, runId, change);
  const row: ToolRow = { role: 'tool', toolCallId: s, toolName, output: values[2] };
  const ended: StreamChunk = {
    type: 'tool_end',
    ...toBase(session.id),
    toolCallId: s,
    toolName,
    result: values[2],
  };
  const tool = session.callWriter(runId, 1, s, 1);
  const settled = await store.calls.settle({
    source: 'tool',
    writer: tool,
    toolCallId: s,
    row,
    chunks: [ended],
    changes: [change],
    hasEvents: true,
    now: 1,
  });
  includes(settled, { kind: 'stored' });

  // People answer.
  const decision: Decision = {
    approved: true,
    at: 1234567890123,
    input: values[3],
    reason: texts[2] ?? '',
  };
  const asked = { sessionId: session.id, agentType: AGENT, runId, chunks: [], now: 1 };
  const answer = { source: 'approval' as const, ...asked, toolCallId: a, permitted: true };
  includes(await store.calls.settle({ ...answer, decision }), { kind: 'stored' });
  equal((await store.calls.pending(session.id))[a]?.response?.decision, asStored(decision));
  includes(await session.answer(runId, c, { output: values[4] }), {
    kind: 'stored',
    resume: { step: 1, approved: [a] },
  });
  includes(await session.start(runId, 1, a), asStored({ kind: 'execute', decision }));

  const approved = await endCall(stores, session, life, runId, a, decision);
  const rows: Row[] = [
    first.row,
    reply,
    { ...row, events: written.events as ToolRow['events'] },
    approved,
    { role: 'tool', toolCallId: c, toolName: 'client-tool', output: values[4] },
  ];
  const all = await store.sessions.rows(session.id, 0);
  includes(all.slice(0, 5), asStored(rows));
  await checkLog(session, [...spoken, ...written.chunks, ended]);
  const { customState } = await store.staging.promoteSettled(session.id);
  equal(customState, asStored({ ...state, ...Object.fromEntries([[stateKey, 'changed']]) }));

  await copy(stores, all, customState);
  await goOn(stores, session, life, waiting, edited);
}
/** The log has the chunks in this order; later chunks of the same kinds follow them. */
async function checkLog(session: SessionDriver, chunks: readonly StreamChunk[]): Promise<void> {
  const types = new Set(chunks.map(({ type }) => type));
  const log = (await session.log()).map(({ message }) => message);
  const found = log.filter(({ type }) => types.has(type as StreamChunk['type']));
  equal(found.slice(0, chunks.length), asStored([...chunks]));
}

/** A copy of the session has the same rows and state. */
async function copy({ store }: Stores, rows: Row[], state: Record<string, unknown>): Promise<void> {
  const sessionId = newSessionId();
  const made = await store.sessions.branch({
    sessionId,
    agent: AGENT,
    owner: 'ann',
    nonce: newNonce(),
    rows,
    messages: [],
    turn: { turn: 1, row: 0, messageId: 'msg-2', step: 1, hasReplied: true },
    visibleMessages: 2,
    state,
    now: 1,
  });
  equal(made, { kind: 'branched' });
  equal(await store.sessions.rows(sessionId, 0), rows);
  equal((await store.documents.readState(sessionId)).customState, state);
}

/** The queued message gets its turn; then the first message is edited. */
async function goOn(
  { store }: Stores,
  session: SessionDriver,
  { objects }: HostileLife,
  waiting: UserMessage,
  edited: UserMessage,
): Promise<void> {
  const again = { ...waiting, hash: 'again', row: { ...waiting.row, metadata: objects[3] ?? {} } };
  const edit = { sessionId: session.id, message: again, expectedHash: waiting.hash, now: 1 };
  equal(await store.queue.edit(edit), { kind: 'edited' });
  const record = await store.sessions.read(session.id);
  await session.end(record?.runId ?? '', 'completed');
  const next = await session.beginNext();
  if (next.kind !== 'begun') throw new Error(next.kind);
  const count = (await store.sessions.rows(session.id, 0)).length;
  equal((await store.sessions.rows(session.id, count - 1))[0], asStored(again.row));
  await session.end(next.run.runId, 'completed');
  const [oldest] = await store.sessions.rows(session.id, 0, 1);
  if (oldest?.role !== 'user') throw new Error('the first row is not a user message');
  const rewound = await session.retry({ messageId: oldest.id, messages: [edited] });
  includes(rewound, { kind: 'rewound' });
  equal(await store.sessions.rows(session.id, 0), asStored([edited.row]));
  includes(await session.begin({ messages: [userMessage('last')], policy: 'interrupt' }), {
    kind: 'begun',
  });
}
