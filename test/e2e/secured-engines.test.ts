import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { Client, Connection } from '@temporalio/client';
import { createPayloadCodec } from '../../extensions/codec/index.js';
import {
  callsOf,
  CLIENT_7,
  loadSnapshot,
  openChat,
  toScript,
  untilAsked,
} from '../support/chat-client.js';
import { newSessionId, sharedTemporal, startProduct, type Product } from '../support/product.js';
import { requireProgram } from '../support/require-program.js';
import { until } from '../support/until.js';

const CANARY = 'the canary sings';
const KEYS = ['2026-12', '2026-11'].map((id) => ({ id, key: randomBytes(32) }));
const toSetting = (keys: typeof KEYS): string =>
  keys.map(({ id, key }) => `${id}:${key.toString('base64')}`).join(',');

let product: Product;
let connection: Connection;
let client: Client;
beforeAll(async () => {
  // The run begins with the old key, and ends after it was rotated.
  product = await startProduct({ env: { TEMPORAL_CODEC_KEYS: toSetting(KEYS.slice(1)) } });
  connection = await Connection.connect({ address: sharedTemporal() });
  client = new Client({
    connection,
    dataConverter: { payloadCodecs: [createPayloadCodec(KEYS)] },
  });
});
afterAll(async () => {
  await product.stop();
  await connection.close();
});

/** Everything that the server keeps of a workflow: its texts, and its bytes as text. */
async function readHistory(workflowId: string): Promise<string> {
  const { history } = await client.workflowService.getWorkflowExecutionHistory({
    namespace: 'default',
    execution: { workflowId },
  });
  return textsOf(history).join('\n');
}

function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (value instanceof Uint8Array) return [Buffer.from(value).toString('latin1')];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(textsOf);
}

describe('histories with TEMPORAL_CODEC_KEYS', () => {
  it('what an operator types into Temporal is in no history, and the run takes it', async () => {
    const sessionId = newSessionId();
    const page = openChat(CLIENT_7, { url: product.url, sessionId });
    await page.chat.sendMessage(
      toScript(
        { calls: [{ tool: 'charge', id: 'c1', args: { amount: 5 } }] },
        { calls: [{ tool: 'echo', id: 'e1', args: { value: 1 } }] },
      ),
    );
    await untilAsked(page);
    const { run } = await loadSnapshot(product.url, sessionId);
    const workflowId = `run:${run?.runId ?? ''}`;
    await product.stopWorker();
    await product.startWorker({ TEMPORAL_CODEC_KEYS: toSetting(KEYS) });

    const input = { amount: 7, note: CANARY };
    await client.workflow.getHandle(workflowId).executeUpdate('approve', {
      args: [{ toolCallId: 'c1', by: 'ann', input }],
    });
    await until('the run is completed', async () => {
      return (await loadSnapshot(product.url, sessionId)).run?.status === 'completed';
    });
    const { messages } = await loadSnapshot(product.url, sessionId);
    expect(callsOf(messages.at(-1))).toMatchObject([
      { toolCallId: 'c1', output: { charged: 7 } },
      { toolCallId: 'e1', output: { value: 1 } },
    ]);
    await client.workflow.getHandle(workflowId).result();
    const history = await readHistory(workflowId);
    expect(history).toContain('binary/encrypted');
    expect(history).not.toContain(CANARY);
    // Names of fields would show a payload that was left out; search attributes hold plain values.
    expect(history).not.toContain('toolCallId');
  });

  it('Temporal’s own command line reads and answers with the API as its codec server', async () => {
    // A key is on every process before any process encrypts with it.
    await product.stopApi();
    await product.startApi({ TEMPORAL_CODEC_KEYS: toSetting(KEYS) });
    const sessionId = newSessionId();
    const page = openChat(CLIENT_7, { url: product.url, sessionId });
    await page.chat.sendMessage(
      toScript({ calls: [{ tool: 'charge', id: 'c1', args: { amount: 5 } }] }),
    );
    await untilAsked(page);
    const workflowId = `run:${(await loadSnapshot(product.url, sessionId)).run?.runId ?? ''}`;
    const temporal = async (...args: string[]): Promise<string> => {
      const to = ['--address', sharedTemporal(), '--workflow-id', workflowId];
      const codec = ['--codec-endpoint', `${product.url}/api/operator/codec`];
      const all = ['workflow', ...args, ...to, ...codec];
      return (await promisify(execFile)(requireProgram('TEMPORAL_CLI_PATH'), all)).stdout;
    };
    // A query has no arguments: nothing to encrypt.
    expect(await temporal('query', '--name', 'agentState')).toContain('"toolName":"charge"');
    const answer = { toolCallId: 'c1', by: 'ann', input: { amount: 7, note: CANARY } };
    await temporal('update', 'execute', '--name', 'approve', '--input', JSON.stringify(answer));
    await client.workflow.getHandle(workflowId).result();
    expect(await readHistory(workflowId)).not.toContain(CANARY);
    const shown = JSON.parse(await temporal('show', '-o', 'json')) as unknown;
    const decoded = textsOf(shown).map((text) => Buffer.from(text, 'base64').toString());
    expect(decoded.join('\n')).toContain(CANARY);
  }, 120_000);

  it('a key that is gone is named, holds up no other chat, and its runs continue once it is back', async () => {
    const others = [{ id: '2027-01', key: randomBytes(32) }];
    const restart = async (keys: typeof KEYS): Promise<void> => {
      const env = { TEMPORAL_CODEC_KEYS: toSetting(keys) };
      await Promise.all([product.stopApi(), product.stopWorker()]);
      await Promise.all([product.startApi(env), product.startWorker(env)]);
    };
    // Its processes have both keys by now.
    const sessionId = newSessionId();
    const page = openChat(CLIENT_7, { url: product.url, sessionId });
    await page.chat.sendMessage(
      toScript({ calls: [{ tool: 'charge', id: 'c1', args: { amount: 5 } }] }, { say: 'done' }),
    );
    await untilAsked(page);
    await restart(others);
    await until('both processes name the key and the setting', () => {
      const named = product
        .log()
        .split('\n')
        .filter((line) => line.includes('2026-12'));
      return named.filter((line) => line.includes('TEMPORAL_CODEC_KEYS')).length >= 2;
    });
    const other = openChat(CLIENT_7, { url: product.url, sessionId: newSessionId() });
    await other.chat.sendMessage(toScript({ say: 'as ever' }));
    expect(other.reply()).toContain('as ever');
    const answered = await fetch(`${product.url}/api/chat/${sessionId}/pending/c1`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ approved: true }),
    });
    expect(answered.status).toBe(202);
    // What was encrypted meanwhile needs the other key.
    await restart([...KEYS, ...others]);
    await until('the run is completed', async () => {
      return (await loadSnapshot(product.url, sessionId)).run?.status === 'completed';
    });
  }, 120_000);
});
