import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { mcpServers, type McpServers } from '../../../extensions/mcp/index.js';
import { createHarness } from '../../support/activity-harness.js';
import { fakeModel, parts, sayInTurn } from '../../support/fake-model.js';
import { createLegHarness } from '../../support/leg-harness.js';
import { byHttp, byStdio } from '../../support/mcp-servers.js';
import { openTestStores } from '../../support/test-stores.js';
import { until } from '../../support/until.js';

const calling = (name: string, input: object = {}) =>
  fakeModel(sayInTurn(parts.asks(parts.call('c1', name, input))));

const offered = ({ tools = [] }: LanguageModelV4CallOptions): string[] =>
  tools.map(({ name }) => name);

async function startRun(servers: McpServers, model = calling('s_look')) {
  const more = { toolSources: [mcpServers(servers)] };
  const stores = await openTestStores();
  const harness = createHarness(stores, { model, more });
  const run = await harness.begin();
  /** Creates a worker that shares no memory with the first. */
  const another = () => createHarness(stores, { model, more }, harness.session);
  const row = async () => (await stores.store.calls.read(harness.session.id, 'c1'))?.row;
  return { ...harness, harness, model, stores, run, another, row };
}

describe('tools of servers in a run', () => {
  it('are listed once: every step and every worker has the same, though the server changes them', async () => {
    const http = await byHttp('changing');
    const model = calling('s_look1', { text: 'up' });
    const { step, run, another, row, session, begin } = await startRun({ s: http.server }, model);
    expect(await step(run, 1)).toMatchObject({ calls: [{ toolName: 's_look1', kind: 'server' }] });
    expect(await another().tool(run, 1, 'c1', 1, { toolName: 's_look1' })).toBe('settled');
    expect(await row()).toMatchObject({
      output: {
        content: [{ type: 'text', text: 'did look1 up' }],
        structuredContent: { text: 'up' },
      },
    });
    expect(await another().step(run, 2)).toMatchObject({ kind: 'ended', status: 'completed' });
    expect(model.doStreamCalls.map(offered)).toEqual([['s_look1'], ['s_look1']]);
    expect(model.doStreamCalls[1]?.prompt.at(-1)).toMatchObject({
      content: [{ output: { type: 'text', value: 'did look1 up' } }],
    });
    const next = await another()
      .begin({ type: 'text', text: 'again' })
      .catch(() => begin());
    await another().step(next, 1);
    expect(model.doStreamCalls.map(offered)[2]).toEqual(['s_look2']);
    expect(session.id).not.toBe('');
  });

  it('a crash between listing and the model keeps the list', async () => {
    const http = await byHttp('changing');
    const model = fakeModel((n) => (n === 0 ? Promise.reject(new Error('dies')) : parts.text('x')));
    const { step, run, another, stores, session } = await startRun({ s: http.server }, model);
    const first = step(run, 1);
    await until('it is asked', () => model.doStreamCalls.length === 1);
    await another().step(run, 1, 2);
    await first.catch(() => undefined);
    for (const call of model.doStreamCalls) expect(offered(call)).toEqual(['s_look1']);
    const { id: sessionId } = session;
    expect(await stores.store.runs.pinTools({ sessionId, runId: run.runId })).toMatchObject({
      kind: expect.stringMatching(/pinned|superseded/) as unknown,
    });
  });

  it('a tool that may change something asks a person, unless a list says otherwise', async () => {
    const { server } = await byStdio();
    const kinds = [
      [{ s: server }, 'approval'],
      [{ s: { ...server, allow: ['change'] } }, 'server'],
    ] as const;
    for (const [servers, kind] of kinds) {
      const { step, run } = await startRun(servers, calling('s_change'));
      expect(await step(run, 1)).toMatchObject({ calls: [{ kind }] });
    }
    const { step, run, row } = await startRun(
      { s: { ...server, deny: ['change'] } },
      calling('s_change'),
    );
    await step(run, 1);
    expect(await row()).toMatchObject({ errorCode: 'unknown_tool' });
  });

  it('the server does not hear a call twice whose worker was lost', async () => {
    const { server, notes } = await byStdio();
    const servers = { s: { ...server, allow: ['*'], approve: ['slow'] } };
    const { step, run, another, row, session } = await startRun(servers, calling('s_slow'));
    await step(run, 1);
    await session.decide(run.runId, 'c1', true);
    const lost = another().tool(run, 1, 'c1', 1);
    await until('it is carried out', async () =>
      (await notes()).some((line) => line.startsWith('slow')),
    );
    expect(await another().tool(run, 1, 'c1', 2)).toBe('settled');
    expect(await row()).toMatchObject({ errorCode: 'tool_outcome_unknown' });
    expect((await notes()).filter((line) => line.startsWith('slow'))).toHaveLength(1);
    lost.catch(() => undefined);
  });

  it('the server hears a call that only reads again, with the same key, when its worker was lost', async () => {
    const { server, notes } = await byStdio();
    const heard = async () => (await notes()).filter((line) => line.startsWith('slow'));
    const model = calling('s_slow');
    const { step, run, another, row } = await startRun({ s: server }, model);
    await step(run, 1);
    // The server does not describe it.
    const slow = model.doStreamCalls[0]?.tools?.find(({ name }) => name === 's_slow');
    expect(slow).toMatchObject({ description: undefined });
    const lost = another().tool(run, 1, 'c1', 1);
    await until('it is carried out', async () => (await heard()).length === 1);
    const again = another().tool(run, 1, 'c1', 2);
    await until('it is carried out again', async () => (await heard()).length === 2);
    expect(await heard()).toEqual(Array(2).fill(`slow ${run.runId}/c1`));
    expect(await row()).toBeUndefined();
    for (const attempt of [lost, again]) attempt.catch(() => undefined);
  });

  it('a run whose server is away fails, and can be resumed; an optional one is left out', async () => {
    const servers = { s: { command: '/no/such/program' } };
    const { step, run } = await startRun(servers);
    expect(await step(run, 1)).toMatchObject({
      kind: 'ended',
      status: 'failed',
      error: { code: 'mcp_unavailable', retryable: true },
    });
    const model = fakeModel(() => parts.says('alone'));
    const other = await startRun({ s: { ...servers.s, optional: true } }, model);
    expect(await other.step(other.run, 1)).toMatchObject({ status: 'completed' });
    expect(model.doStreamCalls.map(offered)).toEqual([[]]);
  });

  it('a stop ends the wait for a server that hangs', async () => {
    const { server, notes } = await byStdio('no-list');
    const { step, run, session, model } = await startRun({ s: server });
    const first = step(run, 1);
    await until('it is started', async () => (await notes()).includes('started'));
    await session.stop();
    expect(await first).toMatchObject({ kind: 'ended', status: 'interrupted' });
    expect(model.doStreamCalls).toHaveLength(0);
  });

  it('the model gets the error of a tool', async () => {
    const { server } = await byStdio();
    const { play, run, model } = await startRun({ s: server }, calling('s_fail', { text: 'late' }));
    expect(await play(run)).toMatchObject({ status: 'completed' });
    expect(model.doStreamCalls[1]?.prompt.at(-1)).toMatchObject({
      content: [{ output: { type: 'error-text', value: 'no: late' } }],
    });
  });

  it('in one leg it is the same', async () => {
    const http = await byHttp('changing');
    const model = calling('s_look1');
    const { begin, leg, rows } = createLegHarness({
      model,
      toolSources: [mcpServers({ s: http.server })],
    });
    await leg(await begin());
    expect(model.doStreamCalls.map(offered)).toEqual([['s_look1'], ['s_look1']]);
    expect(await rows(0)).toMatchObject([
      { role: 'user' },
      { role: 'assistant' },
      { role: 'tool', output: { content: [{ text: 'did look1 ' }] } },
      { role: 'assistant' },
    ]);
  });
});
