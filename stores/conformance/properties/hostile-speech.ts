import type { StreamChunk } from '../../../protocol/chunk.js';
import type { JSONPatchOperation } from '../../../protocol/json-patch.js';
import type { Decision, ToolRow } from '../../../protocol/rows.js';
import { equal, includes } from '../assertions.js';
import { asStored, pointerTo } from '../hostile.js';
import { type SessionDriver } from '../session-driver.js';
import { toBase, type HostileLife, type Stores } from './hostile-inputs.js';

export async function speak(
  { streamManager }: Stores,
  session: SessionDriver,
  { texts, values, eventName, callIds }: HostileLife,
  runId: string,
): Promise<StreamChunk[]> {
  const writer = session.writer(runId, 1, 1);
  await session.claim(writer);
  const base = toBase(session.id);
  const [first = '', second = ''] = texts;
  const chunks: StreamChunk[] = [
    { type: 'text_delta', ...base, delta: first },
    { type: 'thinking', ...base, content: second, isComplete: true },
    { type: 'tool_arg_stream_delta', ...base, toolCallId: callIds[0] ?? '', delta: first },
    { type: 'custom', ...base, eventName, data: values[0] },
  ];
  includes(await streamManager.append(writer, 1, chunks, 0), { kind: 'appended' });
  return chunks;
}

export async function speakAsTool(
  { streamManager }: Stores,
  session: SessionDriver,
  { eventName, values, callIds }: HostileLife,
  runId: string,
  change: JSONPatchOperation,
): Promise<{ chunks: StreamChunk[]; events: object[] }> {
  const writer = session.callWriter(runId, 1, callIds[0] ?? '', 1);
  const base = toBase(session.id);
  const kept: StreamChunk = { type: 'custom', ...base, eventName, data: values[1] };
  const chunks: StreamChunk[] = [
    kept,
    { type: 'custom', ...base, eventName, data: values[0], transient: true },
    { type: 'state_patch', ...base, patches: [change], undo: JSON.stringify(asStored([change])) },
  ];
  const appended = await streamManager.append(writer, 1, chunks, 0);
  if (appended.kind !== 'appended') throw new Error(appended.kind);
  return { chunks, events: [{ sequence: appended.sequence - 2, chunk: kept }] };
}

/** Ends the call that was approved and has started. */
export async function endCall(
  { store, streamManager }: Stores,
  session: SessionDriver,
  { end, toolName, texts, values, eventName }: HostileLife,
  runId: string,
  a: string,
  decision: Decision,
): Promise<ToolRow> {
  const row = { role: 'tool' as const, toolCallId: a, toolName, decision };
  if (end === 'result') {
    const writer = session.callWriter(runId, 1, a, 1);
    const result: ToolRow = { ...row, error: texts[1] ?? '', errorCode: 'x' };
    const settled = await store.calls.settle({
      source: 'tool',
      writer,
      toolCallId: a,
      row: result,
      chunks: [],
      now: 1,
    });
    includes(settled, { kind: 'stored' });
    includes(await session.claim(session.writer(runId, 2, 1)), { kind: 'claimed' });
    return result;
  }
  const undo: JSONPatchOperation[] = [
    { op: 'replace', path: pointerTo(eventName), value: values[4] },
  ];
  const patch: StreamChunk = {
    type: 'state_patch',
    ...toBase(session.id),
    patches: [],
    undo: JSON.stringify(undo),
  };
  await streamManager.append(session.callWriter(runId, 1, a, 1), 1, [patch], 0);
  if (end === 'stop' || end === 'abort') {
    const mode = end === 'stop' ? 'interrupt' : 'abort';
    const reason = texts[0] ?? '';
    includes(await session.stop({ mode, reason, by: texts[1] ?? '' }), { kind: 'ended' });
    const interruption = { mode, by: texts[1] ?? '', ...(end === 'stop' && { reason }) };
    includes(await store.runs.interruption(session.id), asStored(interruption));
  } else if (end === 'failure') {
    const error = { code: eventName, message: texts[2] ?? '', retryable: false };
    await session.end(runId, 'failed', { error });
    includes(await store.sessions.read(session.id), asStored({ error }));
    includes((await session.messages('error')).at(-1), asStored({ error: error.message }));
  } else {
    equal(await session.start(runId, 1, a, 2), { kind: 'settled' });
    includes(await session.claim(session.writer(runId, 2, 1)), { kind: 'claimed' });
  }
  // Its announced state changes are reverted.
  includes((await session.messages('state_patch')).at(-1), asStored({ patches: undo }));
  return { ...row, errorCode: 'tool_outcome_unknown' };
}
