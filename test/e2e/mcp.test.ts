import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import type { Tool } from '@modelcontextprotocol/sdk/types.js';
import type { OperatorRunDetail, OperatorWaiting } from '../../protocol/operator.js';
import { COMMAND_LINE } from '../support/command-line.js';
import { ask, runLab, sessionOf } from '../support/lab-run.js';
import { useProduct } from '../support/product.js';
import { until } from '../support/until.js';

const product = useProduct();

const clients: Client[] = [];
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
});

/** Connects the SDK's own client to the command line's MCP server. */
async function connect(...options: string[]) {
  const client = new Client({ name: 'test', version: '1.0.0' });
  clients.push(client);
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [COMMAND_LINE, 'mcp', ...options],
      env: { PATH: process.env['PATH'] ?? '', HELIX_URL: product.url },
    }),
  );
  return {
    tools: async () => (await client.listTools()).tools,
    call: async (name: string, input: Record<string, unknown> = {}) => {
      const { content, isError } = await client.callTool({ name, arguments: input });
      const [{ text } = { text: '' }] = content as { text: string }[];
      return { isError, text, json: <T>() => JSON.parse(text) as T };
    },
  };
}

async function askForCharge(): Promise<{ sessionId: string; runId: string }> {
  const runId = await runLab(product, [ask('charge', { amount: 5 }), { say: 'paid' }]);
  return { sessionId: sessionOf(runId), runId };
}

const hintsOf = ({ annotations: hints }: Tool): string =>
  [hints?.readOnlyHint && 'reads', hints?.destructiveHint && 'destroys'].filter(Boolean).join(' ');

describe('helix-temporal mcp', () => {
  it('an agent that may only read sees what waits, and cannot answer it', async () => {
    const { sessionId, runId } = await askForCharge();
    const { call, tools } = await connect();
    expect(new Set((await tools()).map(hintsOf))).toEqual(new Set(['reads']));
    const { sessions } = (await call('list_waiting')).json<OperatorWaiting>();
    const waiting = sessions.find((session) => session.sessionId === sessionId);
    expect(waiting?.pending).toMatchObject([{ toolCallId: 'c1', input: { amount: 5 } }]);
    const read = await call('read_session', { sessionId });
    expect(read.text).toContain('charge');
    expect((await call('list_agents')).text).toContain('support');
    const refused = await call('approve_call', { sessionId, toolCallId: 'c1' });
    expect(refused.isError).toBe(true);
    expect((await call('get_run', { runId })).json<OperatorRunDetail>().status).toBe(
      'waiting_approval',
    );
  });

  it('with --allow-writes an agent answers, and the trail says that it came by mcp', async () => {
    const { sessionId, runId } = await askForCharge();
    const { call, tools } = await connect('--allow-writes');
    expect(new Set((await tools()).map(hintsOf))).toEqual(new Set(['reads', 'destroys']));
    const { sessions } = (await call('list_waiting')).json<OperatorWaiting>();
    const waiting = sessions.find((session) => session.sessionId === sessionId);
    const { approvalId, inputHash } = waiting?.pending[0] ?? {};
    const target = { sessionId, toolCallId: 'c1', approvalId, inputHash };
    const bare = await call('approve_call', { sessionId, toolCallId: 'c1' });
    expect(bare.isError).toBe(true);
    expect((await call('approve_call', { ...target, input: { amount: 3 } })).isError).toBe(false);
    await until('the run has ended', async () => {
      const run = (await call('get_run', { runId })).json<OperatorRunDetail>();
      return run.status === 'completed';
    });
    await until('the act is recorded', async () => {
      const { entries } = (await call('list_audit', { action: 'approve' })).json<{
        entries: { via: string; target: { sessionId?: string } }[];
      }>();
      return entries.some(({ via, target: of }) => via === 'mcp' && of.sessionId === sessionId);
    });
    const again = await call('approve_call', target);
    expect(again).toMatchObject({ isError: true, text: expect.stringMatching(/\(\w+\)/) });
    expect((await call('get_run', {})).isError).toBe(true);
  });
});
