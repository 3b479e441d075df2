import { AgentRegistry } from '../../../../agents/index.js';
import { createLabAgent } from '../../../../examples/lab/agent.js';
import { createInProcessExecutor } from '../../../../extensions/one-process/index.js';
import { createMemoryStores } from '../../../../store/memory/index.js';
import { charge } from '../../../support/lab-calls.js';
import { startApi, type StartOptions } from '../../../api/api-server.js';

const user = (id: string, content: unknown = 'hi'): object => ({ id, role: 'user', content });
const resolved = (interruptId: string, payload: unknown): object => ({
  interruptId,
  status: 'resolved',
  payload,
});

async function refusalOf(reply: Response): Promise<[number, string | undefined]> {
  const { code } = (await reply.json()) as { code?: string };
  return [reply.status, code];
}

describe('a request of AG-UI that cannot be taken', () => {
  const long = 'x'.repeat(257);
  it.each<[what: string, body: unknown, code?: string]>([
    ['no JSON', '{"threadId":'],
    ['a list', []],
    ['no thread', { threadId: undefined, messages: [user('u1')] }],
    ['a thread with a colon', { threadId: 'a:b', messages: [user('u1')] }],
    ['no run', { runId: undefined, messages: [user('u1')] }],
    ['a run without a name', { runId: '', messages: [user('u1')] }],
    ['no messages', { messages: undefined }],
    ['nothing new', { messages: [] }, 'nothing_to_do'],
    ['a message without an id', { messages: [{ role: 'user' }] }],
    ['a long id', { messages: [user(long)] }],
    ['an id of the server', { messages: [user('msg-1')] }],
    ['two messages of one id', { messages: [user('u1'), user('u1')] }],
    ['a message without content', { messages: [user('u1', '')] }],
    ['content of a number', { messages: [user('u1', 5)] }],
    ['content of no type', { messages: [user('u1', [{ text: 'a' }])] }],
    ['a part of no kind', { messages: [user('u1', [{ type: 'x' }])] }],
    ['a file of another host', image({ type: 'url', value: 'https://evil.test/a.png' })],
    ['a file without a source', image(null)],
    ['a file of a malformed type', image({ type: 'data', value: 'AA', mimeType: 'image/png,x' })],
    ['an approval that is no name', { resume: [resolved('c1', {})] }, 'kind_mismatch'],
    ['no decision', { resume: [resolved('s:1-a::c1', 'yes')] }, 'kind_mismatch'],
    [
      'two decisions about one call',
      { resume: [false, true].map((approved) => resolved('s:1-a::c1', { approved })) },
      'kind_mismatch',
    ],
    ['a state of its own', { resume: [{ interruptId: 's:1-a::c1', status: 'maybe' }] }],
    [
      'a result for a thread that is not there',
      { messages: [{ id: 't1', role: 'tool', toolCallId: 'c1', content: '1' }] },
      'nothing_to_do',
    ],
  ])('is refused by its code: %s', async (_what, body, code = 'validation_error') => {
    const begun: string[] = [];
    const api = await startApi({ play: (_, id) => Promise.resolve(void begun.push(id)) });
    const asked = { threadId: 's1', runId: 'r1', messages: [], ...(body as object) };
    const isWhole = typeof body === 'string' || Array.isArray(body);
    const reply = await api.post('/api/ag-ui/lab', isWhole ? body : asked);
    expect(await refusalOf(reply)).toEqual([400, code]);
    expect(begun).toEqual([]);
  });

  it('ids of results may be as long as those of their calls allow', async () => {
    const api = await startApi();
    const call = 'c'.repeat(256);
    const copy = [
      user('u0'),
      { id: 'msg-1-1', role: 'assistant', content: 'Hm.' },
      { id: `msg-1-result-${call}`, role: 'tool', toolCallId: call, content: '1' },
      user('u1'),
    ];
    const asked = { threadId: 's1', runId: 'r1', messages: copy };
    const reply = await api.post('/api/ag-ui/lab', asked);
    expect(reply.status).toBe(200);
    await reply.body?.cancel();
  });
});

/** Asks twice in one step, and once more in the next. */
const ASKING = JSON.stringify({
  script: [
    { say: 'May I?', calls: [charge('c1', 1), charge('c2', 2)] },
    { say: 'And this?', calls: [charge('c3', 3)] },
    { say: 'Done.' },
  ],
});

/** A server whose lab agent runs in this process. */
function startAsking(options: StartOptions = {}) {
  const stores = createMemoryStores();
  const agents = new AgentRegistry([createLabAgent({ countCharge: () => Promise.resolve(1) })]);
  const executor = createInProcessExecutor({ agents, stores });
  atEndOfFile(() => executor.close());
  return startApi({ stores, agents, executor, ...options });
}

it('a client is not asked what its user may not decide', async () => {
  const authorize = (_: unknown, action: string): boolean => action !== 'answer';
  for (const [rule, interrupts] of [
    [undefined, 2],
    [authorize, 0],
  ] as const) {
    const api = await startAsking(rule && { authorize: rule });
    const reply = await api.post('/api/ag-ui/lab', {
      threadId: 's1',
      runId: 'r1',
      messages: [user('u1', ASKING)],
    });
    const text = await reply.text();
    expect(text).toContain('RUN_FINISHED');
    expect(text.match(/"responseSchema"/g) ?? []).toHaveLength(interrupts);
  }
});

describe('the answers of a client of AG-UI', () => {
  /** The thread's two approvals wait; `send` answers them. */
  async function untilAsked() {
    const { post, stores } = await startAsking();
    const run = (more: object) =>
      post('/api/ag-ui/lab', { threadId: 's1', runId: 'r1', messages: [], ...more });
    await (await run({ messages: [user('u1', ASKING)] })).text();
    const { runId } = (await stores.store.sessions.read('s1')) ?? {};
    const decide = (call: string, approved: boolean) =>
      resolved(`${String(runId)}::${call}`, { approved });
    const states = async () =>
      (await stores.store.sessions.view('s1'))?.openCalls.map(({ state }) => state);
    return { run, decide, states };
  }
  const toolMessage = (toolCallId: string, more: object = {}) => ({
    id: `t-${toolCallId}`,
    role: 'tool',
    toolCallId,
    content: '{"approved":true}',
    ...more,
  });

  it.each([true, false])('a decision counts beside a message of its call: %s', async (approved) => {
    const { run, decide, states } = await untilAsked();
    const messages = [toolMessage('c1'), toolMessage('c2', { error: 'no' })];
    const reply = await run({ messages, resume: [decide('c1', approved), decide('c2', approved)] });
    expect(reply.status).toBe(200);
    expect(await reply.text()).toContain('TOOL_CALL_RESULT');
    expect(await states()).toEqual(['waiting']);
  });

  it.each([
    ['a message in place of a decision', { messages: [toolMessage('c2')] }],
    ['an error in place of a decision', { messages: [toolMessage('c2', { error: 'no' })] }],
    ['an interrupt that is no name', { resume: [resolved('c2', { approved: true })] }],
  ])('%s is refused, and a decision beside it counts', async (_what, wrong) => {
    const { run, decide, states } = await untilAsked();
    const { messages = [], resume = [] } = wrong as { messages?: object[]; resume?: object[] };
    const reply = await run({ messages, resume: [...resume, decide('c1', true)] });
    expect(await refusalOf(reply)).toEqual([400, 'kind_mismatch']);
    expect(await states()).toEqual(['approved', 'waiting']);
  });
});

/** A request with an image from this source. */
function image(source: object | null): object {
  return { messages: [user('u1', [{ type: 'image', source }])] };
}
