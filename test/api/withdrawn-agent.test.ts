import { createFakeRuntime } from '../support/fake-runtime.js';
import { say, startApi } from './api-server.js';

it('a conversation is not continued in any way once its agent is not addressable', async () => {
  const runtime = createFakeRuntime();
  const before = await startApi(runtime);
  const message = { agent: 'lab', messages: [say('u1', 'hello')] };
  const begun = await before.post('/api/chat/s1', message);
  expect(begun.status).toBe(200);
  await begun.body?.cancel();
  await before.close();

  const after = await startApi(runtime, { agents: { ...runtime.agents, isPublic: () => false } });
  const requests: [path: string, body: object][] = [
    ['/api/chat/s1', { messages: [say('u2', 'more')] }],
    ['/api/chat/s1', { trigger: 'regenerate-message', messages: [say('u1', 'hello')] }],
    ['/api/chat/s1/retry', {}],
    ['/api/agent/resume', { sessionId: 's1' }],
    ['/api/agent/resume', { sessionId: 's1', mode: 'retry' }],
  ];
  for (const [path, body] of requests) {
    const response = await after.post(path, body);
    expect([path, response.status, await response.json()]).toMatchObject([
      path,
      400,
      { code: 'agent_not_found' },
    ]);
  }
  await after.close();
});
