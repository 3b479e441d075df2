import {
  AgentRegistry,
  createRuleModel,
  defineAgent,
  type AgentScope,
  type Principal,
  type ToolContext,
} from '../../../agents/index.js';
import type { Identity } from '../../../api/index.js';
import {
  createInProcessExecutor,
  type InProcessExecutor,
} from '../../../extensions/one-process/index.js';
import { createMemoryStores } from '../../../store/memory/index.js';
import { toVisitorName } from '../../../protocol/actor.js';
import { toStoredSessionId } from '../../../store/record/stored-session-id.js';
import { startApi, type ApiServer } from '../../api/api-server.js';
import { userMessage } from '../../support/session-driver.js';
import { until } from '../../support/until.js';
import { fakeTool } from '../../support/fake-tool.js';

const seen = new Map<string, [requester?: Principal, approver?: Principal]>();
const act = fakeTool(
  'act',
  (_input, { sessionId, requester, approver }: ToolContext) => {
    seen.set(sessionId, [requester, approver]);
    return 'done';
  },
  { requireApproval: true },
);
const scopes: AgentScope[] = [];
const acting = {
  systemPrompt: 'Act.',
  tools: [act],
  llmConfig: {
    model: createRuleModel(({ results }) =>
      results.length === 0 ? { calls: [{ tool: 'act', args: {} }] } : { say: 'done' },
    ),
  },
};
const agent = defineAgent({ ...acting, name: 'actor' });

const PEOPLE: Record<string, Identity> = {
  ann: { userId: 'ann', tenantId: 'acme', roles: ['viewer'], personId: 'p-ann' },
  bob: { userId: 'bob', tenantId: 'acme', roles: ['approver'] },
  olga: { userId: 'olga', tenantId: 'hq', tenants: ['acme'], roles: ['operator'] },
};

let stores: ReturnType<typeof createMemoryStores>;
let executor: InProcessExecutor;
let api: ApiServer;
beforeAll(async () => {
  stores = createMemoryStores();
  const agents = new AgentRegistry([agent]);
  agents.registerFactory('made', (scope) => {
    scopes.push(scope);
    return defineAgent({ ...acting, name: 'made' });
  });
  executor = createInProcessExecutor({ agents, stores });
  api = await startApi({
    executor,
    stores,
    agents: new AgentRegistry([agent]),
    defaultAgent: 'actor',
    allowUnauthenticated: false,
    authenticate: (request) => PEOPLE[request.get('x-user') ?? ''],
  });
});
afterAll(() => executor.close());

const send = (user: string, path: string, body: object, headers: object = {}): Promise<Response> =>
  api.post(path, body, { 'x-user': user, ...headers });

const eve = { requester: { userId: 'eve' }, approver: { userId: 'eve' } };
const message = { id: 'u1', role: 'user' };
const parts = [{ type: 'text', text: 'go' }];
const FRONTS: [front: string, path: (id: string) => string, body: (id: string) => object][] = [
  ['chat', (id) => `/api/chat/${id}`, () => ({ messages: [{ ...message, parts, metadata: eve }] })],
  [
    'agent server',
    () => '/api/agent/start',
    (sessionId) => ({ sessionId, message: 'go', metadata: eve }),
  ],
  [
    'AG-UI',
    () => '/api/ag-ui/actor',
    (threadId) => ({
      threadId,
      runId: 'r1',
      messages: [{ ...message, content: 'go' }],
      tools: [],
      context: [],
      state: eve,
      forwardedProps: eve,
    }),
  ],
  [
    'OpenAI',
    () => '/v1/chat/completions',
    () => ({ model: 'actor', messages: [{ role: 'user', content: 'go' }], metadata: eve }),
  ],
];

describe.each(FRONTS)('a tool that is called by way of %s', (front, path, body) =>
  it.each<[approver: string, tenant: object, seenAs: Principal]>([
    ['bob', {}, { userId: 'bob', tenantId: 'acme', roles: ['approver'] }],
    ['olga', { 'x-helix-tenant': 'acme' }, { userId: 'olga', tenantId: 'hq', roles: ['operator'] }],
  ])('acts for who is signed in, and for %s who approves', async (approver, headers, principal) => {
    const id = `${front.replace(/\W/g, '')}-${approver}`;
    const reply = await send('ann', path(id), body(id));
    expect(reply.ok).toBe(true);
    const sessionId = reply.headers.get('x-session-id') ?? id;
    await reply.text();
    const call = await until('it is asked', async () => {
      const asked = await api.get(`/api/sessions/${sessionId}/pending`, { 'x-user': 'ann' });
      const { pending } = (await asked.json()) as { pending: { toolCallId: string }[] };
      return pending[0];
    });
    const answer = `/api/operator/waiting/${sessionId}/${call.toolCallId}`;
    expect((await send(approver, answer, { approved: true }, headers)).status).toBe(202);
    const [requester, by] = await until('it acts', () =>
      Promise.resolve([...seen].find(([stored]) => stored.endsWith(sessionId))?.[1]),
    );
    expect(requester).toEqual({ userId: 'ann', tenantId: 'acme', roles: ['viewer'] });
    expect(by).toEqual(principal);
  }),
);

it('who has asked is kept by a retry, by copies and by their copies, and a new message asks anew', async () => {
  const { runs } = executor;
  const asked = async (id: string) => {
    const { askers = [], runId } = (await stores.store.sessions.read(id)) ?? {};
    return { runId, who: askers.map(({ userId }) => userId) };
  };
  const whose = { agent: 'actor', owner: 'ann', tenant: 'acme' };
  const first = toStoredSessionId('source', 'acme');
  const paused = (id: string) =>
    until('it is paused', async () => (await stores.store.sessions.read(id))?.stream === 'paused');
  const askers = [{ userId: 'olga', tenantId: 'hq' }];
  await runs.execute({ ...whose, sessionId: first, messages: [userMessage('u1', 'go')], askers });
  await paused(first);
  await runs.retry({ sessionId: first, by: 'carl' });
  await paused(first);
  await runs.stop(first, { mode: 'interrupt' });
  const copy = toStoredSessionId('copy', 'acme');
  await runs.branch({ sessionId: first, newSessionId: copy, by: 'dora' });
  expect((await asked(copy)).who).toEqual(['olga', 'carl', 'dora']);
  const fork = toStoredSessionId('fork', 'acme');
  const { runId = '' } = await asked(first);
  const visitor = toVisitorName({ tenantId: 'hq', userId: 'emil' });
  await runs.fork({ sessionId: first, newSessionId: fork, runId, step: 0, by: visitor });
  await paused(fork);
  expect((await asked(fork)).who).toEqual(['olga', 'carl', 'emil']);
  await runs.stop(fork, { mode: 'interrupt' });
  await runs.execute({ ...whose, sessionId: fork, messages: [userMessage('u2', 'go')] });
  await paused(fork);
  expect((await asked(fork)).who).toEqual(['ann']);
  const again = toStoredSessionId('again', 'acme');
  await runs.branch({ sessionId: fork, newSessionId: again, by: 'fay' });
  await runs.retry({ sessionId: again, messageId: 'u1', by: 'ann' });
  expect((await asked(again)).who).toEqual(['olga', 'carl', 'emil', 'fay', 'ann']);
});

it('an agent that is made for a user is made for the user of that tenant, by each process that asks', async () => {
  const options = { userId: 'ann', tenantId: 'acme' };
  const handle = await executor.execute('made', 'go', options);
  const asked = await handle.result();
  const [call] = 'pending' in asked ? asked.pending : [];
  const answer = { kind: 'approval-response', approved: true, by: 'bob' } as const;
  await handle.submitToolResult({ ...answer, toolCallId: call?.toolCallId ?? '' });
  expect(await handle.result()).toMatchObject({ status: 'completed' });
  expect(scopes.length).toBeGreaterThan(3);
  for (const scope of scopes) expect(scope).toMatchObject(options);
});
