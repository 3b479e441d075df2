import type { OperatorAgent, OperatorRun } from '../../protocol/operator.js';
import { dueShardOf } from '../../store/contract/due.js';
import { createKeySpace } from '../../store/redis/keys.js';
import {
  CLIENTS,
  loadChat,
  loadSnapshot,
  openChat,
  toScript,
  untilEnded,
} from '../support/chat-client.js';
import { useCommandLine } from '../support/command-line.js';
import { ask, runLab, sessionOf } from '../support/lab-run.js';
import { postJson } from '../support/post-json.js';
import { newSessionId, useProduct } from '../support/product.js';
import { postMessage } from '../support/sse-reader.js';
import { until } from '../support/until.js';

/** Number of runs that wait for the agent. */
const CROWD = 10;

const product = useProduct();
const { helix, read } = useCommandLine(product);
// Later test files need the agent unpaused.
afterAll(() => helix(['agent', 'unpause', 'lab', '--all-tenants']));

const lab = async (): Promise<OperatorAgent | undefined> =>
  (await read<OperatorAgent[]>('agent', 'list')).find(({ name }) => name === 'lab');

const isHeld = async (sessionId: string): Promise<boolean> => {
  const { run } = await loadSnapshot(product.url, sessionId);
  return run?.status === 'starting' && run.waitingFor === 'agent';
};

/** Lists the runs that Temporal knows, in order of start. */
const started = async (): Promise<string[]> => {
  const runs = await read<OperatorRun[]>('run', 'list', '--limit', '500', '--agent', 'lab');
  return runs.sort((a, b) => a.startedAt - b.startedAt).map(({ runId }) => sessionOf(runId));
};

describe('a paused agent', () => {
  it.each(CLIENTS)(
    '%s waits in its one response, and gets the reply when the agent is resumed',
    async (_, library) => {
      const waiting = await runLab(product, [ask('charge', { amount: 5 }), { say: 'paid' }]);
      const pause = ['agent', 'pause', 'lab', '--reason', 'a storm'];
      expect((await helix(pause)).stdout).toContain('is paused');
      expect((await helix(pause)).stdout).toContain('was paused before');
      const { url } = product;
      const sessionId = newSessionId();
      const client = openChat(library, { url, sessionId });
      const sent = client.chat.sendMessage(toScript({ say: 'Here I am.' }));
      await until('the run is held', () => isHeld(sessionId).catch(() => false));
      expect(client.chat.status).toBe('submitted');
      expect(await lab()).toMatchObject({
        pauses: [{ everywhere: false, by: 'anonymous', reason: 'a storm' }],
        held: 1,
      });
      const metrics = await (await fetch(`${url}/metrics`)).text();
      expect(metrics).toContain('helix_held_runs{agent="lab"} 1');
      expect(metrics).toContain('helix_paused_agents{agent="lab"} 1');
      // Runs that have begun continue.
      await helix(['approval', 'approve', `${sessionOf(waiting)}::c1`]);
      expect((await helix(['run', 'watch', waiting, '--timeout', '30s'])).code).toBe(0);
      // Other agents still work.
      const other = openChat(library, { url, sessionId: newSessionId(), agent: 'support' });
      await other.chat.sendMessage({ text: 'hello' });
      expect(other.errors).toEqual([]);
      expect(await isHeld(sessionId)).toBe(true);

      expect((await helix(['agent', 'unpause', 'lab'])).stdout).toContain('is resumed');
      await sent;
      expect(client.reply()).toBe('Here I am.');
      expect([client.posts(), client.errors]).toEqual([1, []]);
      expect(await lab()).toMatchObject({ pauses: [], held: 0 });
    },
  );

  it('outlasts API and worker; then what waited starts in its order, and a stopped run does not', async () => {
    expect((await helix(['agent', 'pause', 'lab', '--all-tenants'])).code).toBe(0);
    const { url } = product;
    const ids: string[] = [];
    for (let n = 0; n < CROWD; n += 1) {
      const sessionId = newSessionId();
      ids.push(sessionId);
      const text = toScript({ say: `reply ${String(n)}` }).text;
      await postMessage(url, sessionId, { id: 'u1', text });
      await until('it is held', () => isHeld(sessionId).catch(() => false));
    }
    await product.kill9Api();
    await product.kill9Worker();
    await Promise.all([product.startApi(), product.startWorker()]);
    const [first = '', stopped = ''] = ids;
    await until('it is ready', product.isReady);
    await postJson(`${url}/api/chat/${stopped}/stop`, {});
    const keys = createKeySpace();
    const dueIn = async (id: string): Promise<number> => {
      const { urgent } = keys.due(`default/${product.taskQueue}`, dueShardOf(id));
      return Number(await product.redis.zscore(urgent, id)) - Date.now();
    };
    await until('the sweeper has left it alone', async () => (await dueIn(first)) > 20_000);
    expect((await started()).filter((id) => ids.includes(id))).toEqual([]);
    expect(await lab()).toMatchObject({ pauses: [{ everywhere: true }], held: CROWD });

    const [, library] = CLIENTS[1] ?? CLIENTS[0] ?? [];
    if (library === undefined) throw new Error('no client');
    const page = await loadChat(library, { url, sessionId: first });
    expect(page.snapshot.run).toMatchObject({ status: 'starting', waitingFor: 'agent' });
    // The pause is for all tenants, so unpausing one tenant finds nothing.
    expect((await helix(['agent', 'unpause', 'lab'])).stdout).toContain('was not paused');
    expect((await helix(['agent', 'unpause', 'lab', '--all-tenants'])).code).toBe(0);
    await page.resumed;
    expect(page.client.reply()).toBe('reply 0');
    const rest = ids.filter((id) => id !== stopped);
    const order = await until('all are listed', async () => {
      const listed = (await started()).filter((id) => ids.includes(id));
      return listed.length === rest.length && listed;
    });
    expect(order).toEqual(rest);
    for (const id of rest) {
      await untilEnded(url, id);
    }
    expect((await loadSnapshot(url, stopped)).run?.status).toBe('interrupted');
    expect(await lab()).toMatchObject({ pauses: [], held: 0 });
  }, 120_000);
});
