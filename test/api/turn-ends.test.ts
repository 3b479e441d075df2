import { readUIMessageStream, type UIMessageChunk } from 'ai';
import type { UIMessage } from '../../ai-sdk/index.js';
import { formatApprovalId } from '../../protocol/ids.js';
import type { AssistantRow } from '../../protocol/rows.js';
import { assistantRow } from '../../store/conformance/fixtures.js';
import { createMemoryData, createStoresOn } from '../../store/memory/index.js';
import { parseFrames } from '../support/chat-fetch.js';
import { drive, newCall, type SessionDriver } from '../support/session-driver.js';
import { startOnMemory } from './api-server.js';

/** Each end of a turn, by each way to read it. */
interface End {
  play: (session: SessionDriver, runId: string, row: AssistantRow) => Promise<unknown>;
  finishReason: string;
  /** Of the snapshot. */
  status: string;
  /** The last event for agents' clients; none while people are asked. */
  event?: string;
}

const ERROR = { code: 'provider_error', message: 'The model is away.', retryable: false };
const ENDS: Record<string, End> = {
  completed: {
    play: (session, runId, row) => session.commit(session.writer(runId, 1, 1), { row }),
    finishReason: 'stop',
    status: 'ended',
    event: 'end',
  },
  failed: {
    play: (session, runId, row) => session.end(runId, 'failed', { error: ERROR, row }),
    finishReason: 'error',
    status: 'failed',
    event: 'fail',
  },
  interrupted: {
    play: async (session, runId, row) => {
      await session.stop();
      return session.end(runId, 'interrupted', { row });
    },
    finishReason: 'other',
    status: 'ended',
    event: 'end',
  },
  aborted: {
    play: async (session, runId, row) => {
      await session.stop({ mode: 'abort' });
      return session.end(runId, 'aborted', { row });
    },
    finishReason: 'error',
    status: 'failed',
    event: 'fail',
  },
  paused: {
    play: (session, runId, row) => {
      const writer = session.writer(runId, 1, 1);
      const call = newCall('c1', 'approval');
      const base = { agentId: session.id, agentType: 'tester', step: 1, timestamp: 1 };
      const { toolCallId, toolName, input } = call;
      const asked = { toolCallId, toolName, input, approvalId: formatApprovalId(runId, 'c1') };
      return session.commit(writer, {
        row: { ...row, parts: assistantRow(writer, [call]).parts },
        calls: [call],
        chunks: [
          { type: 'tool_approval_request', ...base, ...asked },
          { type: 'step_end', ...base },
        ],
      });
    },
    finishReason: 'tool-calls',
    status: 'paused',
  },
};

/** The parts of a reply to the end, and the message that a client makes of them. */
async function readTurn(response: Response) {
  expect(response.status).toBe(200);
  const text = await response.text();
  expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
  const parts = parseFrames(text).map(({ part }) => part as UIMessageChunk);
  let message: UIMessage | undefined;
  const stream = new ReadableStream<UIMessageChunk>({
    start(controller) {
      for (const part of parts) if (part.type !== 'error') controller.enqueue(part);
      controller.close();
    },
  });
  for await (const state of readUIMessageStream({ stream })) message = state as UIMessage;
  const ends = parts.filter(({ type }) => type === 'finish' || type === 'error');
  return { ends, message: { ...message, metadata: undefined } };
}

it.each(Object.entries(ENDS))('a turn that is %s ends alike however it is read', async (_, end) => {
  const data = createMemoryData();
  const server = await startOnMemory({ stores: createStoresOn(data) });
  const session = drive(server.stores);
  const { runId, messageId } = await session.newRun();
  const writer = session.writer(runId, 1, 1);
  await session.claim(writer);
  await session.say(writer, 1, 'step 1');
  const headers = { 'x-user': 'ann', 'x-resume-from-sequence': '0' };
  const follow = (): Promise<Response> => server.get(`/api/chat/${session.id}/stream`, headers);
  const live = follow().then(readTurn);
  const agent = `/api/agent/sse?sessionId=${session.id}&fromSequence=0`;
  /** The last event, of a stream that stays open while people are asked. */
  const lastEvent = async (): Promise<string | undefined> => {
    if (end.event === undefined) return undefined;
    const text = await (await server.get(agent, { 'x-user': 'ann' })).text();
    return /"type":"(\w+)"/.exec(text.trimEnd().split('\n').at(-1) ?? '')?.[1];
  };
  const lastLive = lastEvent();
  await end.play(session, runId, { ...assistantRow(writer, []), messageId });

  const failure = { type: 'error', errorText: expect.any(String) };
  const ends = [
    ...(end.finishReason === 'error' ? [failure] : []),
    { type: 'finish', finishReason: end.finishReason },
  ];
  const seen = await live;
  expect(seen.ends).toEqual(ends);
  expect(await follow().then(readTurn)).toEqual(seen);
  expect(await lastLive).toBe(end.event);
  expect(await lastEvent()).toBe(end.event);
  const readSnapshot = async () => {
    const reply = await server.get(`/api/chat/${session.id}/snapshot`, { 'x-user': 'ann' });
    const { status, messages } = (await reply.json()) as { status: string; messages: UIMessage[] };
    return { status, message: { ...messages.at(-1), metadata: undefined } };
  };
  const stored = { status: end.status, message: seen.message };
  expect(await readSnapshot()).toEqual(stored);
  // What is left a day later: the rows.
  data.keyspace.call('UNLINK', `hx:{${session.id}}:stream`);
  expect(await follow().then(readTurn)).toEqual(seen);
  expect(await lastEvent()).toBe(end.event);
  expect(await readSnapshot()).toEqual(stored);
});
