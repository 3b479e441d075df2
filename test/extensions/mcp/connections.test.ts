import { setImmediate } from 'node:timers/promises';
import { createToolHost } from '../../../activities/index.js';
import { connectionsOf } from '../../../extensions/mcp/connection.js';
import { byHttp } from '../../support/mcp-servers.js';

const never = new AbortController().signal;
const HOUR_MS = 60 * 60_000;

/** Returns two connections to one server, in a process that may have so many open. */
async function openTwo(mostOpen: number) {
  let opened = 0;
  const http = await byHttp('', {}, (_, response, { id, method, params }) => {
    if (method === 'initialize') opened += 1;
    if (method !== 'tools/list') return false;
    const page = Number((params as { cursor?: string } | undefined)?.cursor ?? 0) + 1;
    const result = { tools: [], ...(page < 5 && { nextCursor: String(page) }) };
    response.setHeader('content-type', 'application/json');
    return response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
  });
  const host = createToolHost({ info: () => undefined, warn: () => undefined });
  const connections = connectionsOf(host, mostOpen);
  const connect = () => {
    const server = { ...http.server, callTimeoutMs: HOUR_MS };
    const connection = connections.to('s', server);
    const call = (tool: string, signal = never) =>
      connection.call({ tool, input: {}, key: 'key', isRepeatable: false, signal });
    return { list: () => connection.listTools(never), call };
  };
  const begun = async (): Promise<void> => {
    while (!(await http.notes()).includes('slow key')) await setImmediate();
  };
  return { host, one: connect(), other: connect(), begun, opened: () => opened };
}

it('a request that waits for a place opens nothing once the process closes', async () => {
  const { host, one, other, begun, opened } = await openTwo(1);
  const slow = one.call('slow').catch(() => undefined);
  await begun();
  const waiting = other.call('look');
  await host.close();
  await expect(waiting).rejects.toMatchObject({ code: 'mcp_unavailable' });
  await slow;
  expect(opened()).toBe(1);
});

it('a list keeps its connection from page to page, also if others wait for its place', async () => {
  const { host, one, other, opened } = await openTwo(1);
  await Promise.all([one.list(), other.list()]);
  expect(opened()).toBe(2);
  await host.close();
});

it('an unused connection is closed after a while, one with a long call is not', async () => {
  const { host, one, begun, opened } = await openTwo(1);
  jest.useFakeTimers();
  try {
    await one.call('look');
    const over = new AbortController();
    const slow = one.call('slow', over.signal);
    await begun();
    // The end of another call begins no wait either.
    for (let n = 0; n < 2; n += 1) {
      await jest.advanceTimersByTimeAsync(HOUR_MS / 3);
      await one.call('look');
    }
    expect(opened()).toBe(1);
    over.abort(new Error('stopped'));
    await expect(slow).rejects.toThrow('stopped');
    await jest.advanceTimersByTimeAsync(HOUR_MS / 2);
    await one.call('look');
    expect(opened()).toBe(2);
  } finally {
    jest.useRealTimers();
    await host.close();
  }
});
