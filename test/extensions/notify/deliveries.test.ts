import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { allExtensions } from '../../../extensions/index.js';
import { createAnnounceFailure, createSend } from '../../../extensions/notify/activities.js';
import { createDeliveries } from '../../../extensions/notify/deliveries.js';
import type { Message } from '../../../extensions/notify/message.js';
import { readLink } from '../../../extensions/notify/decide-links.js';
import { NotDelivered } from '../../../extensions/notify/post.js';
import { allOf } from '../../../extensions/notify/sender.js';
import { toNotifySettings } from '../../../extensions/notify/settings.js';
import { endWorkflowIdOf } from '../../../protocol/ids.js';
import type { Delivery, Notice } from '../../../protocol/notices.js';
import { hashInput } from '../../../protocol/shown-call.js';
import { toWhose } from '../../../runs/deliveries.js';
import { startOnMemory } from '../../api/api-server.js';
import { FAKE_DELIVERIES } from '../../api/fake-deliveries.js';

interface Started {
  args: [Delivery];
  workflowId: string;
  workflowIdReusePolicy: string;
}

/** Deliveries over a client that notes what it starts, and finds that all of it has begun already. */
function delivering() {
  const begun: object[] = [];
  const client = {
    connection: { withDeadline: (_: unknown, work: () => Promise<unknown>) => work() },
    workflow: {
      start: async (type: string, { args: [of], workflowId, workflowIdReusePolicy }: Started) => {
        begun.push({ ...of, workflowId, workflowIdReusePolicy });
        throw new WorkflowExecutionAlreadyStartedError('', workflowId, type);
      },
      getHandle: () => ({ result: () => Promise.resolve() }),
    },
  };
  const receivers = ['one', 'two', 'three'].map((name) => ({
    name,
    kind: 'slack' as const,
    url: 'https://example.com',
    ...(name !== 'one' && { tenant: name === 'two' ? 'acme' : 'other' }),
  }));
  const settings = toNotifySettings({ receivers, retryForMs: 99 });
  return { begun, ...createDeliveries({ client, taskQueue: 'q' } as never, settings) };
}

it('the receiver that did not take a notice is not notified of it, the others are', async () => {
  const { begun, announce } = delivering();
  const notice: Notice = { id: 'msg_1', type: 'delivery.failed', at: 1, receiver: 'one' };
  await announce({ ...notice, tenant: 'acme' }, 'ann');
  // A retry after a lost reply must not deliver a notice again that was delivered.
  const once = {
    workflowId: expect.stringMatching(/^deliver:.*-1-two$/) as unknown,
    workflowIdReusePolicy: 'REJECT_DUPLICATE',
  };
  const whose = toWhose({ owner: 'ann', tenant: 'acme' });
  expect(begun).toMatchObject([{ ...once, receiver: 'two', whose, retryForMs: 99 }]);
});

it('a test is tried for seconds, and the end of a run that was lost is told once', async () => {
  const { begun, test, announceEnd } = delivering();
  expect(await test('two', 'acme')).toEqual({ status: 'delivered' });
  expect(begun[0]).toMatchObject({ notice: { tenant: 'acme' }, retryForMs: 12_000 });
  await announceEnd({ sessionId: 's', runId: 's:1-a', agent: 'a', status: 'failed' });
  expect(begun[1]).toMatchObject({ workflowId: endWorkflowIdOf('s:1-a') });
});

it('others are notified of a delivery that failed, which is counted', async () => {
  const announced: object[] = [];
  const counted: object[] = [];
  const fail = createAnnounceFailure(
    { announce: async (notice, owner) => void announced.push({ ...notice, owner }) },
    (event) => void counted.push(event),
  );
  const notice: Notice = { id: 'msg_2', type: 'run.failed', at: 1, tenant: 'acme' };
  for (const receiver of ['hook', 'hook', 'other']) {
    await fail({ notice, receiver, code: 'not_delivered' });
  }
  const { id, ...failed } = announced[0] as Notice;
  // People get the failures of one receiver joined, as the notices of one owner.
  const delivery = expect.stringMatching(/^d-.*-2-hook$/) as unknown;
  const tells = { type: 'delivery.failed', tenant: 'acme', receiver: 'hook', delivery };
  expect(failed).toMatchObject({ ...tells, owner: 'hook' });
  const ids = announced.map((each) => (each as Notice).id === id);
  expect(ids).toEqual([true, true, false]);
  expect(counted[0]).toMatchObject({ type: 'run.failed' });
});

describe('an attempt to deliver', () => {
  const settings = toNotifySettings({
    receivers: [
      {
        name: 'ops',
        kind: 'slack',
        url: 'https://example.com',
        tenant: 'acme',
        approver: { userId: 'lina', person: 'lina@acme.test' },
      },
    ],
    includeInput: true,
    publicUrl: 'https://page.test',
    linkKeys: ['k'.repeat(32)],
  });
  const type = 'approval.requested';
  const notice: Notice = { id: 'msg_1', type, at: 0, sessionId: 's', tenant: 'acme' };
  const spec = { toolCallId: 'c1', toolName: 'pay', kind: 'approval', input: 5, runId: 's:1-a' };

  /** Makes one attempt; returns its message or its failure, and what was counted. */
  async function attempt(
    about: Partial<Notice>,
    call: object = {},
    refusal?: Error,
    { includeInput = true } = {},
  ) {
    const counted: object[] = [];
    let sent: Message | undefined;
    let passed: unknown[] = [];
    const send = createSend({
      agents: {},
      store: {
        calls: {
          read: async (_: string, id: string) => (id === 'c1' ? { spec, ...call } : undefined),
        },
      } as never,
      sender: {
        send: async (_name, toMessage, ...more) => {
          passed = more;
          const [receiver] = settings.receivers;
          if (receiver !== undefined) sent = await toMessage(receiver);
          if (refusal !== undefined) throw refusal;
        },
      },
      settings: { ...settings, includeInput },
      meter: (event) => void counted.push(event),
      times: undefined,
    });
    const delivery: Delivery = {
      notice: { ...notice, ...about },
      whose: 'w',
      receiver: 'ops',
      retryForMs: 1,
    };
    const environment = new MockActivityEnvironment({
      scheduledTimestampMs: 0,
      currentAttemptScheduledTimestampMs: 100_000,
    });
    const beat = jest.fn();
    environment.on('heartbeat', beat);
    const begun = jest.spyOn(globalThis, 'setInterval');
    const ended = jest.spyOn(globalThis, 'clearInterval');
    const failure = await environment
      .run(async (): Promise<unknown> => send(delivery))
      .catch((error: unknown) => error);
    expect(ended.mock.calls).toContainEqual([begun.mock.results.at(-1)?.value]);
    const [keepAlive] = begun.mock.calls.at(-1) ?? [];
    keepAlive?.();
    expect(beat).toHaveBeenCalled();
    return { sent, failure, counted, passed };
  }

  it('shows a call, and lets its approver decide it, only as the run asked it', async () => {
    const asked = { runId: 's:1-a', toolCallId: 'c1', toolName: 'pay' };
    const { sent, counted, passed } = await attempt(asked);
    expect(sent).toMatchObject({ input: 5, decideUrl: expect.stringContaining('/api/decide?') });
    const token = new URL(sent?.decideUrl ?? '').searchParams.get('token') ?? '';
    expect(await readLink(settings.linkKeys, token)).toMatchObject({
      sub: 'lina',
      person: 'lina@acme.test',
      tenant: 'acme',
      roles: ['approver'],
      sessionId: 's',
      runId: 's:1-a',
      toolCallId: 'c1',
      inputHash: hashInput(5),
    });
    expect(passed).toEqual([{ tenant: 'acme', owner: 'w', kind: type }, expect.any(AbortSignal)]);
    expect(counted).toMatchObject([{ outcome: 'delivered', seconds: expect.any(Number) }]);
    // The call of a later run has the same id.
    expect((await attempt({ ...asked, runId: 's:2-b' })).sent).not.toHaveProperty('input');
    const decided = await attempt(asked, { decision: { approved: true, at: 1 } });
    expect([decided.sent?.input, decided.sent?.decideUrl]).toEqual([5, undefined]);
    const discreet = await attempt(asked, {}, undefined, { includeInput: false });
    expect(Object.keys(discreet.sent ?? {})).not.toContain('input');
    expect(discreet.sent?.decideUrl).toBeDefined();
    // In another tenant the approver's user id may be another person's.
    expect((await attempt({ ...asked, tenant: 'other' })).sent?.decideUrl).toBeUndefined();
    const ofPage = await attempt(asked, { spec: { ...spec, kind: 'client' } });
    expect(ofPage.sent?.decideUrl).toBeUndefined();
    const calls = ['c1', 'gone'].map((toolCallId) => ({ toolCallId, toolName: 'pay' }));
    const { items = [] } = (await attempt({ ...asked, calls })).sent ?? {};
    expect(items.map(({ decideUrl, input }) => [typeof decideUrl, input])).toEqual([
      ['string', 5],
      ['undefined', undefined],
    ]);
  });

  it('that fails names the time of the next one, and counts unless it is the last', async () => {
    const busy = new NotDelivered('busy', 'Later.', { retryAfterMs: 7_000 });
    const first = await attempt({}, {}, busy);
    expect(first.failure).toMatchObject({ type: 'busy', nextRetryDelay: 7_000 });
    expect(first.counted).toMatchObject([{ outcome: 'retried' }]);
    const away = await attempt({}, {}, new NotDelivered('http_500', 'Away.'));
    const { nextRetryDelay } = away.failure as { nextRetryDelay: number };
    expect(nextRetryDelay).toBeGreaterThanOrEqual(240_000);
    expect(nextRetryDelay).toBeLessThanOrEqual(360_000);
    const gone = await attempt({}, {}, new NotDelivered('http_410', 'Gone.', { isFinal: true }));
    expect([gone.failure, gone.counted]).toMatchObject([{ nonRetryable: true }, []]);
  });
});

it('a joined message is given up once no one waits for any of it', () => {
  const [one, other] = [new AbortController(), new AbortController()];
  const item = ({ signal }: { signal: AbortSignal | undefined }) =>
    ({ signal, toMessage: () => Promise.reject(new Error('unused')) }) as const;
  const joined = allOf([item(one), item(other)]);
  one.abort();
  expect(joined?.aborted).toBe(false);
  other.abort();
  expect(joined?.aborted).toBe(true);
  expect(allOf([item(one), item({ signal: undefined })])).toBeUndefined();
});

it('receivers of another tenant are neither listed nor tested', async () => {
  const ofNoTenant = { name: 'home', kind: 'mail', tenant: null, escalation: false } as const;
  const receivers = [...FAKE_DELIVERIES.receivers, ofNoTenant];
  const deliveries = () => ({ ...FAKE_DELIVERIES, receivers });
  const api = await startOnMemory({
    runs: { extensions: [{ name: 'receivers', deliveries }] },
    extensions: allExtensions(),
  });
  const ask = async (tenant: string, receiver = 'ops') => {
    const user = { 'x-user': `eva@${tenant}@operator` };
    const listed = await api.get('/api/operator/receivers', user);
    const { status } = await api.post(`/api/operator/receivers/${receiver}/test`, {}, user);
    const { receivers } = (await listed.json()) as { receivers: { name: string }[] };
    return [receivers.map(({ name }) => name), status];
  };
  expect(await ask('acme')).toEqual([['ops'], 200]);
  expect(await ask('other')).toEqual([[], 404]);
  expect(await ask('', 'home')).toEqual([['home'], 200]);
});
