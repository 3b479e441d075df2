import { createToolHost } from '../../../activities/index.js';
import { mcpServers } from '../../../extensions/mcp/index.js';
import { createHarness } from '../../support/activity-harness.js';
import { fakeModel, parts, sayInTurn } from '../../support/fake-model.js';
import { byHttp, byStdio } from '../../support/mcp-servers.js';
import { openTestStores } from '../../support/test-stores.js';
import { until } from '../../support/until.js';

const hosts: ReturnType<typeof createToolHost>[] = [];
afterEach(async () => {
  await Promise.all(hosts.splice(0).map((each) => each.close()));
});

/** Runs an agent that calls these tools in steps; returns the first result. */
async function call(tools: string[], http?: Awaited<ReturnType<typeof byHttp>>) {
  const stores = await openTestStores();
  const { server, notes } = http ?? (await byStdio('strange'));
  const asks = tools.map((tool, at) => parts.asks(parts.call(`c${String(at)}`, `s_${tool}`, {})));
  const model = fakeModel(sayInTurn(...asks));
  const toolHost = createToolHost({ info: () => undefined, warn: () => undefined });
  hosts.push(toolHost);
  const more = { toolSources: [mcpServers({ s: server })] };
  const harness = createHarness(stores, { model, toolHost, more });
  const run = await harness.begin();
  expect(await harness.play(run)).toMatchObject({ status: 'completed' });
  const rows = await stores.store.sessions.rows(harness.session.id, 0);
  const row = rows.find((each) => each.role === 'tool');
  return { row, notes, given: model.doStreamCalls[1]?.prompt.at(-1)?.content };
}

describe('results of servers of tools that no record can keep as they are', () => {
  it('one that is nested too deeply is an error of its call, and the run continues', async () => {
    const { row, given } = await call(['deep']);
    expect(row).toMatchObject({ error: expect.any(String) });
    expect(row).not.toHaveProperty('output');
    expect(given).toMatchObject([{ output: { type: 'error-text' } }]);
  });

  it('halves of characters are marked, and what stands around them stays', async () => {
    const { row } = await call(['halves']);
    expect(row).toMatchObject({ output: { content: [{ text: 'half \ufffd\u0000 \ufffd' }] } });
  });

  it('numbers that JSON does not have become what JSON makes of them', async () => {
    const { row } = await call(['infinite']);
    expect(row).toMatchObject({ output: { structuredContent: { n: null } } });
  });
});

describe('a server of tools that says more than it was asked', () => {
  it('answers of no call, and second ones, change nothing', async () => {
    const { row } = await call(['twice']);
    expect(row).toMatchObject({ output: { content: [{ text: 'did twice ' }] } });
  });

  it('gets nothing that it asks of the agent: no model, no folders, no questions', async () => {
    const { row, notes } = await call(['asks']);
    expect(row).toMatchObject({ output: { content: [{ text: 'did asks ' }] } });
    const refused = ['own-0 -32601', 'own-1 -32601', 'own-2 -32601'];
    await until('it is refused', async () => (await notes()).includes('own-2 -32601'));
    expect((await notes()).filter((line) => line.startsWith('own-'))).toEqual(refused);
  });

  it('gets no answer to a question whose id is a text without end', async () => {
    const { notes } = await call(['named']);
    await until('the next one is refused', async () => (await notes()).includes('last -32601'));
    expect((await notes()).filter((line) => line.startsWith('an id of'))).toEqual([]);
  });

  it('and asks without end, and reads nothing, is answered up to a number', async () => {
    const warnings: string[] = [];
    const keep = ({ name }: Error): unknown => warnings.push(name);
    process.on('warning', keep);
    atEndOfFile(() => process.off('warning', keep));
    const { notes } = await call(['pings', 'look']);
    // The program notes the count whether the next call reuses the connection or opens another.
    let line: string | undefined;
    await until('the program notes how many answers it got', async () => {
      line = (await notes()).find((each) => each.startsWith('answers '));
      return line !== undefined;
    });
    const answers = Number(line?.slice('answers '.length));
    expect(answers).toBeGreaterThan(1_000);
    expect(answers).toBeLessThan(9_000);
    expect(warnings).not.toContain('MaxListenersExceededWarning');
  });
});

describe('a server of tools that breaks off', () => {
  it('in the middle of every answer, is tried again and then given up', async () => {
    const { row, notes } = await call(['cut']);
    expect(row).toMatchObject({ errorCode: 'mcp_connection_lost' });
    expect((await notes()).filter((line) => line.startsWith('cut'))).toHaveLength(3);
  });

  it('by leading a call from place to place at its own address, is left after a few', async () => {
    const http = await byHttp('', {}, ({ url = '' }, response, { method }) => {
      const location = `/${'x'.repeat(url.length)}`;
      return method === 'tools/call' && response.writeHead(307, { location }).end();
    });
    const { row } = await call(['look'], http);
    expect(row).toMatchObject({ errorCode: expect.stringMatching(/^mcp_/) });
    expect(http.seen.length).toBeLessThan(50);
  });
});
