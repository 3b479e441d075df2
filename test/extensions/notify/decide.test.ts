import { allExtensions } from '../../../extensions/index.js';
import type { MayStillDecide } from '../../../extensions/notify/index.js';
import { toStoredSessionId } from '../../../ai-sdk/index.js';
import { toDecideUrl, type LinkClaims } from '../../../extensions/notify/decide-links.js';
import { hashInput } from '../../../protocol/shown-call.js';
import { drive, newCall, userMessage, type SessionDriver } from '../../support/session-driver.js';
import { until } from '../../support/until.js';
import { personIdOf } from '../../../api/identity.js';
import { startOnMemory } from '../../api/api-server.js';

/** Notices' links lead to a page with a form. */
const KEY = 'k'.repeat(32);

let api: Awaited<ReturnType<typeof startOnMemory>>;
let session: SessionDriver;
let claims: LinkClaims;
let mayStillDecide: MayStillDecide | undefined;

beforeEach(async () => {
  mayStillDecide = undefined;
  api = await startOnMemory({
    extensions: allExtensions({
      notify: {
        receivers: [],
        publicUrl: 'http://localhost',
        linkKeys: [KEY],
        mayStillDecide: (person) => mayStillDecide?.(person) ?? true,
      },
    }),
  });
  session = drive(api.stores, toStoredSessionId('mine', 'acme'));
  const secret = userMessage('h1', 'pay <b>mallory</b>');
  const hidden = { ...secret, row: { ...secret.row, hidden: true }, hidden: true };
  const messages = [hidden, userMessage('u1')];
  const begun = await session.newRun({ owner: 'ann', tenant: 'acme', messages });
  const { runId } = begun;
  // A decision on a call with approvers must name the call as shown.
  const guarded = newCall('c1', 'approval', { approvers: { roles: ['approver'] } });
  await session.ask(runId, 1, [guarded, newCall('c2', 'client')]);
  claims = {
    sub: 'bob',
    tenant: 'acme',
    roles: ['approver'],
    sessionId: session.id,
    runId,
    toolCallId: 'c1',
    inputHash: hashInput({ of: 'c1' }),
  };
});

const WAYS = ['show', 'decide'] as const;
type Way = (typeof WAYS)[number];

async function follow(
  way: Way,
  accept: string,
  changed: Partial<LinkClaims> = {},
  key = KEY,
  decision = 'approve',
) {
  const url = await toDecideUrl(api.url, key, { ...claims, ...changed });
  const token = new URL(url).searchParams.get('token') ?? '';
  const form = new URLSearchParams({ token, decision, reason: 'fine' });
  const response = await fetch(way === 'show' ? url : `${api.url}/api/decide`, {
    headers: { accept },
    ...(way === 'decide' && { method: 'POST', body: form }),
  });
  const text = await response.text();
  const code = /data-code="(\w+)"/.exec(text)?.[1] ?? /"code":"(\w+)"/.exec(text)?.[1];
  return { status: response.status, code, text, headers: Object.fromEntries(response.headers) };
}

const PRIVATE = { 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' };
const decisionOf = async () => (await api.stores.store.calls.read(session.id, 'c1'))?.decision;

it('a link shows the question as often as one likes, and its form decides once', async () => {
  for (let n = 0; n < 2; n += 1) {
    const shown = await follow('show', 'text/html');
    expect(shown).toMatchObject({ status: 200, headers: { ...PRIVATE, 'x-robots-tag': 'none' } });
    expect(shown.text).toContain('You decide as <b>bob</b>');
    // The page shows what else the model saw.
    expect(shown.text).toContain('The model saw 1 message that the conversation does not show');
    expect(shown.text).toContain('pay &lt;b&gt;mallory&lt;/b&gt;');
  }
  const odd = await follow('decide', 'text/html', {}, KEY, 'maybe');
  expect(odd).toMatchObject({ status: 400, code: 'validation_error' });
  expect(await decisionOf()).toBeUndefined();
  const decided = await follow('decide', 'text/html');
  expect(decided).toMatchObject({ status: 200, headers: PRIVATE });
  expect(await decisionOf()).toMatchObject({ approved: true, by: 'bob', reason: 'fine' });
  const { entries } = await api.stores.store.audit.page('acme', { limit: 1, action: 'approve' });
  expect(entries[0]).toMatchObject({ name: 'bob', entry: { via: 'link' } });
  for (const way of WAYS) {
    expect(await follow(way, 'text/html')).toMatchObject({
      status: 409,
      code: 'already_completed',
      headers: PRIVATE,
    });
  }
});

it('a link that is over does not say that its question is', async () => {
  const url = await toDecideUrl(api.url, KEY, claims, Date.now() - 8 * 86_400_000);
  const response = await fetch(url, { headers: { accept: 'text/html' } });
  expect(response.status).toBe(409);
  expect(await response.text()).toContain('The time of this link is over.');
});

it('a link reads no large conversation', async () => {
  const large = drive(api.stores, toStoredSessionId('large', 'acme'));
  const secret = userMessage('h1', 'pay mallory');
  const hidden = { ...secret, row: { ...secret.row, hidden: true }, hidden: true };
  const more = [1, 2, 3].map((n) => userMessage(`u${String(n)}`, 'x'.repeat(900_000)));
  const begun = await large.newRun({ owner: 'ann', tenant: 'acme', messages: [hidden, ...more] });
  const { runId } = begun;
  await large.ask(runId, 1, [newCall('c1', 'approval', { input: { of: 'c1' } })]);
  const shown = await follow('show', 'text/html', { sessionId: large.id, runId });
  expect(shown.status).toBe(200);
  expect(shown.text).toContain('too large to show here');
});

describe.each([
  ['that was answered', 'already_completed'],
  ['whose time is over', 'expired'],
])('a question %s', (_, code) =>
  it.each(['waits for another answer', 'has gone on', 'was steered'])(
    'while its run %s',
    async (how) => {
      const other = drive(api.stores, toStoredSessionId('other', 'acme'));
      const begun = await other.newRun({ owner: 'ann', tenant: 'acme' });
      const { runId } = begun;
      const late = code === 'expired' ? { deadlineMs: 1 } : {};
      await other.ask(runId, 1, [newCall('c1', 'approval', late), newCall('c2', 'client')]);
      if (code === 'expired') {
        const expire = async () => (await other.expireAs(runId, 'c1', false)).kind === 'stored';
        await until('the deadline is over', expire);
      } else await other.decide(runId, 'c1', false);
      if (how !== 'waits for another answer') {
        await other.answer(runId, 'c2', { output: 1 });
        const more = { owner: 'ann', tenant: 'acme', messages: [userMessage('u3')] };
        if (how === 'was steered') await other.begin({ ...more, policy: 'steer' });
        await other.ask(runId, 2, []);
      }
      for (const way of WAYS) {
        const refused = await follow(way, 'text/html', { sessionId: other.id, runId });
        expect(refused).toMatchObject({ status: 409, code, headers: PRIVATE });
      }
    },
  ),
);

describe.each(
  WAYS.flatMap((way) => ['text/html', 'application/json'].map((as) => [way, as] as const)),
)('%s, as %s', (way, accept) =>
  it.each([
    ['another input', { inputHash: hashInput({ of: 'other' }) }, 409, 'stale_run'],
    ['another run', { runId: 'mine:9-zzz' }, 409, 'stale_run'],
    ['another tenant', { tenant: 'other' }, 404, 'not_found'],
    ['no tenant', { tenant: undefined }, 404, 'not_found'],
    ['another call', { toolCallId: 'c2' }, 409, 'stale_run'],
    ['another conversation', { sessionId: 'unknown' }, 404, 'not_found'],
    ['another key', {}, 401, 'unauthorized'],
  ])('%s is refused, and decides nothing', async (what, changed, status, code) => {
    const key = what === 'another key' ? 'x'.repeat(32) : KEY;
    const refused = await follow(way, accept, changed, key);
    expect(refused).toMatchObject({ status, code, headers: { 'cache-control': 'no-store' } });
    expect(await decisionOf()).toBeUndefined();
  }),
);

it('a person who asked in another tenant cannot approve by a link where others must', async () => {
  const person = 'ann@acme.test';
  const asker = { userId: 'ann', tenantId: 'acme', personId: personIdOf(person) };
  const other = drive(api.stores, toStoredSessionId('other', 'acme'));
  const { runId } = await other.newRun({ owner: 'ann', tenant: 'acme', askers: [asker] });
  await other.ask(runId, 1, [newCall('c1', 'approval', { approvers: { separate: true } })]);
  const at = { sessionId: other.id, runId, sub: 'ann-2' };
  const refused = await follow('decide', 'text/html', { ...at, person });
  expect(refused).toMatchObject({ status: 403, code: 'not_allowed' });
  const taken = await follow('decide', 'text/html', { ...at, person: 'bob@acme.test' });
  expect(taken.status).toBe(200);
});

it('a link is not believed about a person of whom the host says otherwise by now', async () => {
  const asked: unknown[] = [];
  mayStillDecide = (person) => {
    asked.push(person);
    return false;
  };
  for (const way of WAYS) {
    expect(await follow(way, 'text/html')).toMatchObject({ status: 403, code: 'not_allowed' });
  }
  const bob = { userId: 'bob', tenantId: 'acme', roles: ['approver'] };
  expect(asked).toEqual([bob, bob]);
  mayStillDecide = () => Promise.reject(new Error('away'));
  expect((await follow('decide', 'text/html')).status).toBe(500);
  expect(await decisionOf()).toBeUndefined();
  // The server does not wait for a check that hangs.
  const isAsked = new Promise<void>((resolve) => {
    mayStillDecide = () => {
      resolve();
      return new Promise(() => undefined);
    };
  });
  jest.useFakeTimers({ doNotFake: ['setInterval'] });
  try {
    const late = follow('decide', 'application/json');
    await isAsked;
    await jest.advanceTimersByTimeAsync(1_500);
    expect(await late).toMatchObject({ status: 503, code: 'unavailable' });
  } finally {
    jest.useRealTimers();
  }
  mayStillDecide = () => Promise.resolve(true);
  expect(await follow('decide', 'text/html')).toMatchObject({ status: 200 });
});
