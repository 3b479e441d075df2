import { newCall } from '../../store/conformance/fixtures.js';
import { drive } from '../support/session-driver.js';
import { say, startApi, startOnMemory, type ApiServer } from './api-server.js';

const STATIC = { 'x-helix-tool-parts': 'static' };

let api: ApiServer;
let path: string;
beforeEach(async () => {
  const server = await startOnMemory({ authenticate: () => ({ userId: 'ann' }) });
  api = server;
  const session = drive(server.stores);
  const { runId } = await session.newRun('u1');
  await session.ask(runId, 1, [newCall('c1', 'client'), newCall('c2', 'approval')]);
  path = `/api/chat/${session.id}`;
});

async function typesAt(of: string, headers: Record<string, string>): Promise<string[]> {
  const { messages } = (await (await api.get(`${path}/${of}`, headers)).json()) as {
    messages: { parts: { type: string; toolName?: string }[] }[];
  };
  const parts = messages.flatMap((message) => message.parts);
  return parts.flatMap(({ type, toolName = '' }) =>
    type.includes('tool') ? [`${type} ${toolName}`] : [],
  );
}

it.each(['messages', 'snapshot?includePartialContent=true'])(
  '%s has the parts that the request asks for',
  async (of) => {
    expect(await typesAt(of, STATIC)).toEqual(['tool-client-tool ', 'tool-approval-tool ']);
    const dynamic = ['dynamic-tool client-tool', 'dynamic-tool approval-tool'];
    expect(await typesAt(of, {})).toEqual(dynamic);
    expect(await typesAt(of, { 'x-helix-tool-parts': 'other' })).toEqual(dynamic);
  },
);

it('a stream has the flag on all events of a call, or on none', async () => {
  const calls = [{ id: 'c1', name: 'look', kind: 'client' as const, input: { q: 1 } }];
  const chat = await startApi({ defaultAgent: 'lab', play: (turn) => turn.finish(calls) });
  const read = async (id: string, headers: Record<string, string>): Promise<string> =>
    (await chat.post(`/api/chat/${id}`, { messages: [say('u1', 'hi')] }, headers)).text();
  const dynamic = await read('s1', {});
  const plain = await read('s2', STATIC);
  expect(dynamic).toContain('"dynamic":true');
  expect(plain).toContain('"toolName":"look"');
  expect(plain).not.toContain('dynamic');
});
