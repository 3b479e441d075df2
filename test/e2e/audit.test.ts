import type { AuditEntryReply, AuditReply } from '../../protocol/audit.js';
import { createKeySpace } from '../../store/redis/keys.js';
import { CLIENT_7, loadSnapshot, openChat, toScript } from '../support/chat-client.js';
import { openAsked, type AskedChat } from '../support/asked-chat.js';
import { charge } from '../support/lab-calls.js';
import { newSessionId, openTemporal, useProduct } from '../support/product.js';
import { useOwnUser } from '../support/signing-proxy.js';
import { until } from '../support/until.js';

const product = useProduct('accounts');
// The trail of its own tenant has no entries of other files.
const own = useOwnUser(useProduct('accounts'), 'operator');
const keys = createKeySpace();
const { chain } = keys.audit(own.tenant);
const temporal = openTemporal();

async function entriesOf(sessionId: string): Promise<AuditEntryReply[]> {
  const response = await fetch(`${own.url}/api/operator/audit?limit=500`);
  const { entries } = (await response.json()) as AuditReply;
  return entries.filter(({ target }) => target.sessionId === sessionId).reverse();
}

const untilEntry = (sessionId: string, action: string): Promise<AuditEntryReply> =>
  until(`${action} of ${sessionId} is in the trail`, async () =>
    (await entriesOf(sessionId)).find((entry) => entry.action === action),
  );

async function post(path: string, body: object, via?: string): Promise<Response> {
  return fetch(`${own.url}/api${path}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(via !== undefined && { 'x-helix-via': via }),
    },
    body: JSON.stringify(body),
  });
}

async function verify(): Promise<{ ok: boolean; entries: number; signed: number; fault?: object }> {
  const response = await fetch(`${own.url}/api/operator/audit/verify`);
  return (await response.json()) as never;
}

describe('the audit trail', () => {
  it('the same approval leaves the same entry whichever way it comes, but for the way', async () => {
    const { url } = own;
    const ask = () => openAsked(url, { calls: [charge('c1')] });
    const runOf = async (sessionId: string): Promise<string> =>
      (await loadSnapshot(url, sessionId)).run?.runId ?? '';
    const ways: Record<string, (asked: AskedChat) => Promise<unknown>> = {
      api: ({ sessionId }) => post(`/chat/${sessionId}/pending/c1`, { approved: true }),
      cli: ({ sessionId }) => post(`/chat/${sessionId}/pending/c1`, { approved: true }, 'cli'),
      page: ({ sessionId }) => {
        const answer = { kind: 'approval-response', toolCallId: 'c1', approved: true };
        return post('/agent/submit-tool-result', { sessionId, ...answer }, 'page');
      },
      console: ({ sessionId }) =>
        post(`/chat/${sessionId}/pending/c1`, { approved: true }, 'console'),
      mcp: ({ sessionId }) => post(`/chat/${sessionId}/pending/c1`, { approved: true }, 'mcp'),
      chat: async ({ client, id }) => client.chat.addToolApprovalResponse({ id, approved: true }),
      temporal: async ({ sessionId }) => {
        const handle = temporal.workflow.getHandle(`run:${await runOf(sessionId)}`);
        await handle.executeUpdate('approve', { args: [{ toolCallId: 'c1', by: 'olga' }] });
      },
    };
    const all = Object.entries(ways);
    const check = async ([way, answer]: (typeof all)[number]) => {
      const asked = await ask();
      await answer(asked);
      const entry = await untilEntry(asked.sessionId, 'approve');
      expect(await entriesOf(asked.sessionId)).toHaveLength(1);
      expect(entry.target).toEqual({
        sessionId: asked.sessionId,
        runId: await runOf(asked.sessionId),
        toolCallId: 'c1',
        toolName: 'charge',
      });
      return [way, entry] as const;
    };
    const entries = Object.fromEntries(await Promise.all(all.map(check)));
    const vias = Object.fromEntries(Object.entries(entries).map(([way, { via }]) => [way, via]));
    expect(vias).toEqual({
      api: 'api',
      cli: 'cli',
      page: 'page',
      console: 'console',
      mcp: 'mcp',
      chat: 'api',
      temporal: 'temporal',
    });
    const names = Object.values(entries).map(({ name }) => name);
    expect(names).toEqual([...Array<string>(6).fill(own.user), 'olga']);
    const rest = Object.values(entries).map(
      ({
        n: _n,
        // The product knows no roles of an operator who acts through Temporal.
        roles: _roles,
        id: _id,
        at: _at,
        via: _via,
        actor: _actor,
        name: _name,
        target: _target,
        ...same
      }) => same,
    );
    expect(rest[0]).toMatchObject({ action: 'approve', outcome: 'stored' });
    expect(rest[0]?.inputHash).toMatch(/^[\w-]{43}$/);
    for (const each of rest) expect(each).toEqual(rest[0]);
    expect(await verify()).toMatchObject({ ok: true });
  });

  it('a deadline that passes, a stop and a retry leave their entries', async () => {
    const { url } = own;
    const asked = await openAsked(url, { calls: [charge('c1')] });
    const { sessionId } = asked;
    await post(`/chat/${sessionId}/stop`, { reason: 'a canary of a reason' }, 'console');
    await untilEntry(sessionId, 'stop');
    await post(`/chat/${sessionId}/retry`, {});
    const retried = await untilEntry(sessionId, 'retry');
    expect(retried.target.runId).toBe((await loadSnapshot(url, sessionId)).run?.runId);
    const [stop] = await entriesOf(sessionId);
    expect(stop).toMatchObject({ action: 'stop', via: 'console', outcome: 'ended' });
    expect(stop?.reasonHash).toBeDefined();
    expect(JSON.stringify(await entriesOf(sessionId))).not.toContain('canary');
    const expires = newSessionId();
    const call = { tool: 'ask', id: 'k1', args: { question: 'ok?' } };
    const client = openChat(CLIENT_7, { url, sessionId: expires });
    await client.chat.sendMessage(toScript({ calls: [call] }));
    expect(await untilEntry(expires, 'expire')).toMatchObject({
      actor: 'rule',
      via: 'auto',
      target: { toolCallId: 'k1' },
    });
  });

  it('an entry that is edited in Redis is found by the route, and an export is recorded first', async () => {
    const exported = await fetch(`${own.url}/api/operator/audit/export`);
    const lines = (await exported.text()).trimEnd().split('\n');
    const [first] = lines.map((line) => JSON.parse(line) as AuditEntryReply);
    expect(first).toMatchObject({ action: 'export', detail: { what: 'exportAudit' } });
    const { entries } = await verify();
    expect(lines).toHaveLength(entries);
    const [last] = await product.redis.xrevrange(chain, '+', '-', 'COUNT', 1);
    const [id = '', [, text = '', ...rest] = []] = last ?? [];
    await product.redis.xdel(chain, id);
    // Redis refuses an id twice, so the test copies the stream and appends the changed entry.
    const all = await product.redis.xrange(chain, '-', '+');
    await product.redis.del(chain);
    for (const [each, fields] of all) await product.redis.xadd(chain, each, ...fields);
    await product.redis.xadd(chain, id, 'e', text.replace('export', 'read'), ...rest);
    expect(await verify()).toMatchObject({ ok: false, fault: { n: entries, reason: 'changed' } });
  });
});
