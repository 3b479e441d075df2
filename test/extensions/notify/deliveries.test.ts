import { MockActivityEnvironment } from '@temporalio/testing';
import { allExtensions } from '../../../extensions/index.js';
import { createAnnounceFailure, createSend } from '../../../extensions/notify/activities.js';
import { createDeliveries } from '../../../extensions/notify/deliveries.js';
import type { Message } from '../../../extensions/notify/message.js';
import { NotDelivered } from '../../../extensions/notify/post.js';
import { allOf } from '../../../extensions/notify/sender.js';
import { toNotifySettings } from '../../../extensions/notify/settings.js';
import type { Delivery, Notice } from '../../../protocol/notices.js';
import { startOnMemory } from '../../api/api-server.js';
import { FAKE_DELIVERIES } from '../../api/fake-deliveries.js';

interface Started {
  args: [Delivery];
  workflowIdReusePolicy: string;
}

it('the receiver that did not take a notice is not notified of it, the others are', async () => {
  const begun: string[] = [];
  const client = {
    connection: { withDeadline: (_: unknown, work: () => Promise<unknown>) => work() },
    workflow: {
      start: async (_: string, { args: [delivery], workflowIdReusePolicy }: Started) => {
        begun.push(`${delivery.receiver} ${workflowIdReusePolicy}`);
      },
    },
  };
  const receivers = ['one', 'two', 'three'].map((name) => ({
    name,
    kind: 'slack' as const,
    url: 'https://example.com',
    ...(name === 'three' && { tenant: 'other' }),
  }));
  const { announce } = createDeliveries(
    { client, taskQueue: 'q' } as never,
    toNotifySettings({ receivers }),
  );
  await announce({ id: 'msg_1', type: 'delivery.failed', at: 1, receiver: 'one' });
  // A retry after a lost reply must not deliver a notice again that was delivered.
  expect(begun).toEqual(['two REJECT_DUPLICATE']);
});

it('others are notified of a delivery that failed, which is counted', async () => {
  const announced: object[] = [];
  const counted: object[] = [];
  const fail = createAnnounceFailure(
    { announce: async (notice, owner) => void announced.push({ ...notice, owner }) },
    (event) => void counted.push(event),
  );
  const failed = { receiver: 'hook', code: 'not_delivered' };
  await fail({ notice: { id: 'msg_2', type: 'run.failed', at: 1, tenant: 'acme' }, ...failed });
  const notice = { type: 'delivery.failed', tenant: 'acme', receiver: 'hook' };
  // People get the failures of one receiver joined, as the notices of one owner.
  expect(announced).toMatchObject([{ ...notice, owner: 'hook' }]);
  expect(counted).toMatchObject([{ type: 'run.failed' }]);
});

describe('an attempt to deliver', () => {
  const settings = toNotifySettings({
    receivers: [
      { name: 'ops', kind: 'slack', url: 'https://example.com', approver: { userId: 'lina' } },
    ],
    includeInput: true,
    publicUrl: 'https://page.test',
    linkKeys: ['k'.repeat(32)],
  });
  const notice: Notice = { id: 'msg_1', type: 'approval.requested', at: 0, sessionId: 's' };
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
    const send = createSend({
      agents: {},
      store: { calls: { read: async () => ({ spec, ...call }) } } as never,
      sender: {
        send: async (_name, toMessage) => {
          const [receiver] = settings.receivers;
          if (receiver !== undefined) sent = await toMessage(receiver);
          if (refusal !== undefined) throw refusal;
        },
      },
      settings: { ...settings, includeInput },
      meter: (event) => void counted.push(event),
      times: undefined,
    });
    const delivery: Delivery = { notice: { ...notice, ...about }, receiver: 'ops', retryForMs: 1 };
    const environment = new MockActivityEnvironment({
      scheduledTimestampMs: 0,
      currentAttemptScheduledTimestampMs: 100_000,
    });
    const begun = jest.spyOn(globalThis, 'setInterval');
    const ended = jest.spyOn(globalThis, 'clearInterval');
    const failure = await environment
      .run(async (): Promise<unknown> => send(delivery))
      .catch((error: unknown) => error);
    expect(ended.mock.calls).toContainEqual([begun.mock.results.at(-1)?.value]);
    return { sent, failure, counted };
  }

  it('shows a call, and lets its approver decide it, only as the run asked it', async () => {
    const asked = { runId: 's:1-a', toolCallId: 'c1', toolName: 'pay' };
    const { sent, counted } = await attempt(asked);
    expect(sent).toMatchObject({ input: 5, decideUrl: expect.stringContaining('/api/decide?') });
    expect(counted).toMatchObject([{ outcome: 'delivered', seconds: expect.any(Number) }]);
    // The call of a later run has the same id.
    expect((await attempt({ ...asked, runId: 's:2-b' })).sent).not.toHaveProperty('input');
    const decided = await attempt(asked, { decision: { approved: true, at: 1 } });
    expect([decided.sent?.input, decided.sent?.decideUrl]).toEqual([5, undefined]);
    const discreet = await attempt(asked, {}, undefined, { includeInput: false });
    expect(Object.keys(discreet.sent ?? {})).not.toContain('input');
    // In another tenant the approver's user id may be another person's.
    expect((await attempt({ ...asked, tenant: 'acme' })).sent?.decideUrl).toBeUndefined();
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
