import type { OperatorAgent } from '../../protocol/operator.js';
import { CLIENT_7, loadSnapshot, openChat, toScript } from '../support/chat-client.js';
import { useCommandLine } from '../support/command-line.js';
import { ask, runLab, sessionOf } from '../support/lab-run.js';
import { newSessionId, useProduct } from '../support/product.js';
import { until } from '../support/until.js';

const product = useProduct();
const { helix, read } = useCommandLine(product);
// Later test files need the agent unpaused.
afterAll(() => helix(['agent', 'unpause', 'lab']));

const lab = async (): Promise<OperatorAgent | undefined> =>
  (await read<OperatorAgent[]>('agent', 'list')).find(({ name }) => name === 'lab');

const isHeld = async (sessionId: string): Promise<boolean> => {
  const { run } = await loadSnapshot(product.url, sessionId);
  return run?.status === 'starting' && run.waitingFor === 'agent';
};

it('a message to it waits in its one response, and gets the reply when the agent is resumed', async () => {
  const waiting = await runLab(product, [ask('charge', { amount: 5 }), { say: 'paid' }]);
  const pause = ['agent', 'pause', 'lab', '--reason', 'a storm'];
  expect((await helix(pause)).stdout).toContain('is paused');
  expect((await helix(pause)).stdout).toContain('was paused before');
  const { url } = product;
  const sessionId = newSessionId();
  const client = openChat(CLIENT_7, { url, sessionId });
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
  expect((await helix(['run', 'watch', waiting, '--timeout', '100s'])).code).toBe(0);
  // Other agents still work.
  const other = openChat(CLIENT_7, { url, sessionId: newSessionId(), agent: 'support' });
  await other.chat.sendMessage({ text: 'hello' });
  expect(other.errors).toEqual([]);
  expect(await isHeld(sessionId)).toBe(true);

  expect((await helix(['agent', 'unpause', 'lab'])).stdout).toContain('is resumed');
  expect((await helix(['agent', 'unpause', 'lab'])).stdout).toContain('was not paused');
  await sent;
  expect(client.reply()).toBe('Here I am.');
  expect([client.posts(), client.errors]).toEqual([1, []]);
  expect(await lab()).toMatchObject({ pauses: [], held: 0 });
});
