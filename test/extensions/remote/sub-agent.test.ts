import { createServer } from 'node:http';
import { z } from 'zod';
import {
  createRemoteSubAgentTool,
  HttpRemoteAgentTransport,
} from '../../../extensions/remote/index.js';
import { remoteSessionId } from '../../../extensions/remote/run-remotely.js';
import { createHarness } from '../../support/activity-harness.js';
import { fakeModel, parts, sayInTurn } from '../../support/fake-model.js';
import { charge } from '../../support/lab-calls.js';
import { listen } from '../../support/listen.js';
import { useLocalProduct } from '../../support/local-product.js';
import { startTcpProxy } from '../../support/tcp-proxy.js';
import { openTestStores } from '../../support/test-stores.js';
import { until } from '../../support/until.js';

const remote = useLocalProduct();

const script = (...entries: object[]): object => ({ script: entries });
const slow = script({ say: 'far away', deltas: 4, everyMs: 1_500 });

interface Target {
  url?: string;
  agentType?: string;
  unreachableMs?: number;
}

/** Creates a run whose first step has delegated to the other server. */
async function delegate(input: object, target: Target = {}) {
  const stores = await openTestStores();
  const tool = createRemoteSubAgentTool({
    name: 'delegate',
    description: 'Asks the other server.',
    agentType: target.agentType ?? 'lab',
    inputSchema: z.looseObject({}),
    transport: new HttpRemoteAgentTransport({ url: target.url ?? `${remote.url}/api/agent` }),
    unreachableMs: target.unreachableMs ?? 60_000,
  });
  const calls = parts.asks(parts.call('c1', 'delegate', input));
  const model = fakeModel(sayInTurn(calls));
  const harness = createHarness(stores, { model, tools: [tool] });
  const run = await harness.begin();
  await harness.step(run, 1);
  const theirs = remoteSessionId(`${run.runId}/c1`);
  const streamed = async (): Promise<string> => {
    const log = await harness.session.log();
    return log
      .map(({ message }) =>
        message.type === 'text_delta' && message.agentId === theirs ? message.delta : '',
      )
      .join('');
  };
  const status = async (): Promise<Record<string, unknown>> => {
    const reply = await fetch(`${remote.url}/api/agent/status?sessionId=${theirs}`);
    return (await reply.json()) as Record<string, unknown>;
  };
  const row = async (): Promise<unknown> =>
    (await stores.store.calls.read(harness.session.id, 'c1'))?.row;
  return { ...harness, stores, run, theirs, streamed, status, row };
}

describe('a remote sub-agent', () => {
  it('a remote sub-agent is shown in the stream of its parent, and returns its text', async () => {
    const call = { tool: 'echo', id: 'e1', args: { value: 1 } };
    const { tool, run, session, theirs, streamed, row } = await delegate(
      script({ say: 'first', calls: [call] }, { say: 'last' }),
    );
    expect(await tool(run, 1, 'c1')).toBe('settled');
    expect(await row()).toMatchObject({ output: 'last' });
    expect(await streamed()).toBe('firstlast');
    const frame = { agentId: session.id, subSessionId: theirs, callId: 'c1', subAgentType: 'lab' };
    expect(await session.messages('subagent_start')).toMatchObject([frame]);
    expect(await session.messages('subagent_end')).toMatchObject([{ ...frame, result: 'last' }]);
    const ends = await session.messages('tool_end');
    expect(ends).toMatchObject([
      { toolCallId: 'c1/e1', agentId: theirs },
      { toolCallId: 'c1', agentId: session.id },
    ]);
    expect(await session.messages('step_end')).not.toContainEqual(
      expect.objectContaining({ agentId: theirs }),
    );
  });

  it('a remote sub-agent starts once and loses nothing when a worker is lost and its connection breaks in the middle', async () => {
    const proxy = await startTcpProxy(Number(new URL(remote.url).port));
    const url = `http://127.0.0.1:${String(proxy.port)}/api/agent`;
    const { tool, run, streamed, row, status } = await delegate(slow, { url });
    const first = tool(run, 1, 'c1', 1).catch((error: unknown) => error);
    await until('it speaks', async () => (await streamed()) !== '');
    // A later attempt takes the call over, as if the first were dead.
    const second = tool(run, 1, 'c1', 2);
    await first;
    const before = (await streamed()).length;
    await until('it speaks again', async () => (await streamed()).length > before);
    proxy.cut();
    expect(await second).toBe('settled');
    expect(await row()).toMatchObject({ output: 'far away' });
    expect(await streamed()).toBe('far away');
    expect(await status()).toMatchObject({ run: { turn: 1, status: 'completed' } });
    await proxy.close();
  });

  it('a remote sub-agent is interrupted with its parent', async () => {
    const { tool, run, session, streamed, status, stores } = await delegate(
      script({ say: 'x', hangMs: 60_000 }),
    );
    const result = tool(run, 1, 'c1');
    await until('it has begun', async () => (await status())['status'] === 'running');
    await stores.store.runs.stop(session.id, { mode: 'interrupt' });
    await result;
    await until('it was stopped', async () => (await status())['status'] === 'interrupted');
    expect(await streamed()).toBe('');
  });

  it('a remote sub-agent that asks for a person is stopped on both servers', async () => {
    const ask = charge('r1');
    const { tool, run, row, status } = await delegate(script({ calls: [ask] }));
    expect(await tool(run, 1, 'c1')).toBe('settled');
    expect(await row()).toMatchObject({ errorCode: 'remote_subagent_client_tool_unsupported' });
    expect(await status()).toMatchObject({ status: 'aborted' });
  });

  it('the failure of a remote sub-agent is reported to the model', async () => {
    const { tool, run, row } = await delegate(script({ fail: { status: 400 } }));
    await tool(run, 1, 'c1');
    expect(await row()).toMatchObject({ errorCode: 'subagent_failed' });
  });

  it('a remote sub-agent that is refused, not found or out of reach is lost, with the reason', async () => {
    const refused = await delegate({}, { agentType: 'unknown' });
    await refused.tool(refused.run, 1, 'c1');
    const lost = { errorCode: 'framework_subagent_lost' };
    expect(await refused.row()).toMatchObject({
      ...lost,
      error: expect.stringContaining('(refused:agent_not_found)') as unknown,
    });

    const elsewhere = await delegate({}, { url: `${remote.url}/api/nothing-here` });
    await elsewhere.tool(elsewhere.run, 1, 'c1');
    expect(await elsewhere.row()).toMatchObject({
      ...lost,
      error: expect.stringContaining('(not_found)') as unknown,
    });

    const { url } = await listen(createServer((_, response) => response.writeHead(503).end()));
    const away = await delegate({}, { url, unreachableMs: 300 });
    await away.tool(away.run, 1, 'c1');
    expect(await away.row()).toMatchObject({
      ...lost,
      error: expect.stringContaining('(status_unreachable)') as unknown,
    });
  });
});
