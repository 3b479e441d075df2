import { ROUTES } from '../support/all-routes.js';
import type { AuditReply } from '../../protocol/audit.js';
import type { PersonErasureReply } from '../../protocol/replies.js';
import { createKeySpace } from '../../store/redis/keys.js';
import { runCommand } from '../support/command-line.js';
import { charge, delegate } from '../support/lab-calls.js';
import { signToken } from '../support/people.js';
import { newSessionId, openTemporal, useProduct } from '../support/product.js';
import { dumpKeys } from '../support/redis-dump.js';
import { until } from '../support/until.js';

interface Sent {
  query?: string;
  body?: object | string;
  headers?: Record<string, string>;
  /** True if the route may refuse; the refused content then stays in the process's memory. */
  mayFail?: boolean;
}

type Walk = (
  id: string,
  params?: Record<string, string | undefined>,
  sent?: Sent,
) => Promise<string>;

/** Sends requests by route id and notes the routes sent. */
function walkAs(
  getUrl: () => string,
  headers: Record<string, string>,
): Walk & { done: Set<string> } {
  const done = new Set<string>();
  const walk: Walk = async (id, params = {}, sent = {}) => {
    const route = ROUTES.find((each) => each.id === id);
    if (route === undefined) throw new Error(`no route ${id}`);
    done.add(id);
    const path = route.path.replaceAll(/:(\w+)/g, (_, name: string) => params[name] ?? '');
    const isText = typeof sent.body === 'string';
    const response = await fetch(`${getUrl()}${path}?${sent.query ?? ''}`, {
      method: route.method.toUpperCase(),
      headers: { ...headers, ...sent.headers, ...(isText && { 'content-type': 'text/plain' }) },
      ...(sent.body !== undefined && {
        body: typeof sent.body === 'string' ? sent.body : JSON.stringify(sent.body),
      }),
    });
    // A question holds some replies open; others end only with their conversation.
    const isEndless = ['followSession', 'followAgent'].includes(id);
    const text = isEndless ? '' : await response.text();
    if (isEndless) await response.body?.cancel();
    const isFine = response.status < (sent.mayFail === true ? 500 : 300);
    if (!isFine) throw new Error(`${id}: ${String(response.status)} ${text}`);
    return text;
  };
  return Object.assign(walk, { done });
}

const product = useProduct('accounts');
const temporal = openTemporal();

async function as(
  sub: string,
  tenant: string,
  ...roles: string[]
): Promise<Record<string, string>> {
  const authorization = await signToken(sub, tenant, roles);
  return { authorization, 'content-type': 'application/json' };
}

// Other files act as people of other tenants in the same Redis.
const [ACME, RIVAL] = [`acme-${newSessionId()}`, `rival-${newSessionId()}`];
const CANARY = `canary-${newSessionId()}`;
const BEGUN_AT = new Date().toISOString();

async function say(user: string, org: string, text: string): Promise<string> {
  const id = newSessionId();
  const response = await fetch(`${product.url}/api/chat/${id}?agent=lab`, {
    method: 'POST',
    headers: await as(user, org),
    body: JSON.stringify({ message: { id: 'u1', role: 'user', content: text } }),
  });
  expect(await response.text()).toContain('[DONE]');
  return id;
}

async function ask(
  path: string,
  headers: Record<string, string>,
  method = 'GET',
): Promise<Response> {
  return fetch(`${product.url}/api${path}`, { method, headers });
}

describe('a person', () => {
  it('of a person who has used every route and is erased, nothing is left but ids in the trail', async () => {
    const canary = `mark-${newSessionId()}`;
    const zoe = `zoe-${canary}@example.com`;
    const walk = walkAs(() => product.url, await as(zoe, ACME));
    const ofBob = await say('bob', ACME, 'hello');
    const texts = { script: [{ say: canary, calls: [charge('c1')] }, { say: canary }] };
    const script = JSON.stringify(texts);
    const message = (id: string, content = script) => ({
      agent: 'lab',
      message: { id, role: 'user', content },
    });
    const [main, other, third] = ['main', 'other', 'third'].map((name) => `${canary}-${name}`);
    const of = { sessionId: main, toolCallId: 'c1' };
    const delegated = {
      calls: [
        { tool: 'remember', id: 'm1', args: { key: canary, value: canary } },
        delegate('d1', { say: canary }),
      ],
    };

    await walk('postChatSession', of, {
      body: message('u1', JSON.stringify({ script: [delegated, ...texts.script] })),
    });
    const file = await walk('uploadFile', of, { query: `filename=${canary}.txt`, body: canary });
    const { id: fileId } = JSON.parse(file) as { id: string };
    await walk('getFile', { ...of, fileId });
    for (const id of ['unborn', 'withdrawn'])
      await walk(
        'uploadFile',
        { sessionId: `${canary}-${id}` },
        { query: `filename=${canary}.txt`, body: canary },
      );
    const gone = await walk(
      'uploadFile',
      { sessionId: `${canary}-emptied` },
      { query: `filename=${canary}.txt`, body: canary },
    );
    await walk('deleteFile', {
      sessionId: `${canary}-emptied`,
      fileId: (JSON.parse(gone) as { id: string }).id,
    });
    for (const id of [
      'followChat',
      'followChatStream',
      'getSnapshot',
      'listMessages',
      'listCheckpoints',
      'getPending',
    ])
      await walk(id, of);
    await walk('getSubAgentReport', { ...of, toolCallId: 'd1' });
    for (const id of ['followSession', 'followAgent', 'getAgentStatus'])
      await walk(id, of, { query: `sessionId=${main ?? ''}` });
    for (const id of ['listWaiting', 'listConversations', 'getConfig', 'listModels', 'exportMe'])
      await walk(id);
    await walk('getModel', { model: 'lab' });
    const slow = JSON.stringify({
      script: [{ say: canary, calls: [{ tool: 'sleep', id: 's1', args: { ms: 2_000 } }] }],
    });
    const busy = { sessionId: `${canary}-busy` };
    await walk('startAgent', {}, { body: { ...busy, message: slow, agent: 'lab' } });
    const queued = ['u2', 'u3'].map((id) =>
      walk(
        'postChat',
        {},
        { query: 'busy=queue', body: { id: busy.sessionId, ...message(id, canary) } },
      ),
    );
    await until('both are queued', async () => {
      const { queue } = JSON.parse(await walk('getQueue', busy)) as { queue: unknown[] };
      return queue.length === 2;
    });
    await walk('editQueue', busy, { body: { id: 'u2', text: canary } });
    await walk('clearQueue', busy, { query: 'id=u3' });
    await Promise.all(queued);
    await walk('leaseCall', of, { body: { holder: canary }, mayFail: true });
    await walk('extendDeadline', of, { body: { byMs: 1_000 }, mayFail: true });
    await walk('answerCall', of, {
      body: { approved: true, input: { amount: 6, note: canary }, reason: canary },
    });

    await walk('startAgent', {}, { body: { sessionId: other, message: script, agent: 'lab' } });
    const rests = (id: string) =>
      until(`${id} rests`, async () => {
        const status = await walk('getAgentStatus', {}, { query: `sessionId=${id}` });
        return /"status":"(waiting_approval|completed|interrupted)"/.test(status);
      });
    await rests(other ?? '');
    await walk(
      'submitToolResult',
      {},
      {
        body: {
          kind: 'approval-response',
          sessionId: other,
          toolCallId: 'c1',
          approved: false,
          reason: canary,
        },
      },
    );
    await walk('postChatSession', { sessionId: third }, { body: message('u1') });
    const stop = { body: { sessionId: third, reason: canary } };
    await walk('interruptAgent', {}, stop);
    await walk('resumeAgent', {}, { body: { sessionId: third } });
    await rests(third ?? '');
    await walk('stopChat', { sessionId: third }, { body: { reason: canary } });
    await walk('retryChat', { sessionId: third }, { body: {} });
    await walk('abortAgent', {}, stop);
    await walk('branchChat', { sessionId: third }, { body: { sessionId: `${canary}-copy` } });
    const messages = [{ id: 'u1', role: 'user', content: script }];
    await walk(
      'createCompletion',
      {},
      {
        body: { model: 'lab', messages, metadata: { note: canary } },
        headers: { 'x-session-id': `${canary}-completion`, 'idempotency-key': canary },
      },
    );
    await walk(
      'runAgUi',
      { agent: 'lab' },
      { body: { threadId: `${canary}-events`, runId: canary, messages } },
    );
    const once = { query: 'receipt=true', headers: { 'idempotency-key': canary } };
    await walk('deleteChat', { sessionId: `${canary}-copy` }, once);
    const operator = await as('olga', ACME, 'operator');
    expect((await ask(`/operator/sessions/${main ?? ''}`, operator)).status).toBe(200);

    const find = async (text: string) => {
      const keys = await dumpKeys(product.redis, '*');
      return keys.filter((each) => JSON.stringify(each).includes(text)).map(({ key }) => key);
    };
    expect((await find(zoe)).length).toBeGreaterThan(2);
    await until('all of it is erased', async () => {
      const reply = await walk('eraseMe');
      return (JSON.parse(reply) as PersonErasureReply).complete;
    });
    const ofUsers = ROUTES.filter(
      ({ access, path }) => access !== 'everyone' && !/^\/(api\/operator|metrics)/.test(path),
    );
    expect([...walk.done].sort()).toEqual(ofUsers.map(({ id }) => id).sort());
    expect(await find(zoe)).toEqual([]);
    // Ids remain in audit entries, in the sweeper's list until a sweep finds nothing, in the lab
    // tool's own effects, and for some seconds in the workers' list of stops.
    await until('no other key names a conversation', async () => {
      const left = (await find(canary)).filter((key) => !/^hx:due:|:chain$|^lab:/.test(key));
      return left.length === 0;
    });
    const ids = new RegExp(`${canary}-\\w+`, 'g');
    const { chain } = createKeySpace().audit(ACME);
    const entries = JSON.stringify(await product.redis.xrange(chain, '-', '+'));
    for (const text of [entries, product.log()])
      expect(text.replaceAll(ids, '')).not.toContain(canary);
    await until(
      'Temporal has none of it',
      async () => {
        const left = await textsInTemporal();
        return left.includes(ofBob) && !left.includes(canary);
      },
      180_000,
    );
    expect((await ask(`/chat/${ofBob}/snapshot`, await as('bob', ACME))).status).toBe(200);
  });

  it('an operator of several tenants chooses one, by header or --tenant, and is named so there', async () => {
    const id = await say('cem', ACME, `${CANARY}-e`);
    const roles = ['operator'];
    const authorization = await signToken('otto', 'ops', roles, { helps: [ACME] });
    const token = authorization.replace('Bearer ', '');
    const run = (...args: string[]) =>
      runCommand(args, { env: { HELIX_URL: product.url, HELIX_TOKEN: token } });
    expect(await run('user', 'export', 'cem')).toMatchObject({ code: 0, stdout: '' });
    const found = await run('--tenant', ACME, 'user', 'export', 'cem');
    expect(found).toMatchObject({ code: 0, stderr: '' });
    expect(found.stdout).toContain(`${CANARY}-e`);
    const refused = await run('--tenant', RIVAL, 'user', 'export', 'cem');
    expect(refused.code).toBe(77);
    expect(refused.stderr).toContain('You may not act on this tenant.');
    const listed = await run('session', 'show', id, '--tenant', ACME, '-o', 'json');
    expect(JSON.parse(listed.stdout)).toMatchObject({ owner: 'cem' });
    const operator = await as('olga', ACME, 'operator');
    const audit = await ask('/operator/audit?limit=100', operator);
    const { entries } = (await audit.json()) as AuditReply;
    const ottos = entries.filter(({ name }) => name === 'other-tenant:ops|otto');
    expect(ottos.map(({ action }) => action)).toEqual(['read', 'export']);
    // A chat always belongs to the token's own tenant.
    const own = { authorization, 'x-helix-tenant': ACME };
    expect((await ask(`/chat/${id}/snapshot`, own)).status).toBe(404);
  });
});

/** Collects ids, memos and histories of the workflows that Temporal lists for this file. */
async function textsInTemporal(): Promise<string> {
  const texts: string[] = [];
  const query = `TaskQueue = '${product.taskQueue}' AND StartTime >= '${BEGUN_AT}'`;
  for await (const { workflowId, runId, memo, raw } of temporal.workflow.list({ query })) {
    const handle = temporal.workflow.getHandle(workflowId, runId);
    // Temporal may have deleted the workflow since it listed it.
    const history = await handle.fetchHistory().catch(() => undefined);
    texts.push(workflowId, textsOf(memo), textsOf(raw), textsOf(history));
  }
  return texts.join(' ');
}

/** Returns all text in a Temporal value, with payloads decoded. */
function textsOf(value: unknown): string {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('utf8');
  if (typeof value !== 'object' || value === null) return String(value);
  return Object.entries(value)
    .map(([name, each]) => `${name} ${textsOf(each)}`)
    .join(' ');
}
