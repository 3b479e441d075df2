import type { Times } from '../../protocol/limits.js';
import { useCommandLine, type CommandLine } from '../support/command-line.js';
import { deliveriesAbout, sendAgain, untilNotTaken } from '../support/delivery-workflows.js';
import { ask, readOperator, runLab, sessionOf } from '../support/lab-run.js';
import { startReceiver, type NoticeReceiver } from '../support/notice-receiver.js';
import { postJson } from '../support/post-json.js';
import { openTemporal, startProduct, type Product } from '../support/product.js';
import { until } from '../support/until.js';

const SECRET = `whsec_${'a'.repeat(32)}`;
const CHARGE = [ask('charge', { amount: 5 }), { say: 'well' }];

let hook: NoticeReceiver;
let gone: NoticeReceiver;
let product: Product;
let line: CommandLine;
const temporal = openTemporal();

beforeAll(async () => {
  hook = await startReceiver(SECRET);
  gone = await startReceiver();
  const approver = { userId: 'ann' };
  const receivers = [
    {
      name: 'hook',
      kind: 'webhook',
      url: hook.url,
      secrets: [SECRET],
      privateNetwork: true,
      approver,
    },
    {
      name: 'gone',
      kind: 'webhook',
      url: gone.url,
      secrets: [SECRET],
      privateNetwork: true,
      events: ['run.failed'],
    },
    { name: 'inside', kind: 'slack', url: gone.url, events: ['run.stopped'] },
    {
      name: 'deaf',
      kind: 'slack',
      url: gone.url,
      privateNetwork: true,
      events: ['delivery.failed'],
    },
  ];
  product = await startProduct({
    env: {
      NOTIFY_RECEIVERS: JSON.stringify(receivers),
      NOTIFY_LINK_KEY: 'k'.repeat(32),
      NOTIFY_REMIND_AFTER: '2s',
      PUBLIC_URL: 'http://page.test',
      HELIX_TIMES: JSON.stringify({ noticeRetryMs: 1_000 } satisfies Partial<Times>),
    },
  });
  line = useCommandLine(product);
});
afterAll(async () => {
  await product.stop();
  await hook.close();
  await gone.close();
});

const statusOf = async (runId: string): Promise<string> =>
  (await readOperator<{ status: string }>(product, `runs/${runId}`)).status;

const answer = (sessionId: string): Promise<Response> =>
  postJson(`${product.url}/api/chat/${sessionId}/pending/c1`, { approved: false, reason: 'no' });

/** Posts a link's form and returns the status and, if refused, the code. */
async function decide(token: string, decision = 'approve'): Promise<[number, string?]> {
  const body = new URLSearchParams({ token, decision });
  const response = await fetch(`${product.url}/api/decide`, { method: 'POST', body });
  const { code } = (await response.json()) as { code?: string };
  return code === undefined ? [response.status] : [response.status, code];
}

it.concurrent(
  'a question is notified, reminded of, and its notices end with the answer',
  async () => {
    const session = sessionOf(await runLab(product, CHARGE));
    const asked = await hook.untilTaken(session, 'approval.requested');
    expect(asked.data).toMatchObject({
      agent: 'lab',
      toolName: 'charge',
      toolCallId: 'c1',
      url: `http://page.test/console/waiting/${session}`,
    });
    expect(asked.body).not.toContain('amount');
    const reminder = await hook.untilTaken(session, 'approval.reminder');
    expect(reminder.id).not.toBe(asked.id);
    expect((await answer(session)).status).toBe(202);
    const settled = await hook.untilTaken(session, 'approval.settled');
    expect(settled.data).toMatchObject({ outcome: 'denied' });
    const token = new URL(String(asked.data['decideUrl'])).searchParams.get('token') ?? '';
    expect(await decide(token)).toEqual([409, 'already_completed']);
    await hook.untilTaken(session, 'run.completed');
    const ids = hook.taken.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
  },
);

it.concurrent('an erased conversation leaves no workflow of its notices', async () => {
  const runId = await runLab(product, CHARGE);
  const session = sessionOf(runId);
  await hook.untilTaken(session, 'approval.reminder');
  const about = async (): Promise<unknown[]> => {
    const waits: unknown[] = [];
    const query = `WorkflowId STARTS_WITH 'wait:${session}'`;
    for await (const each of temporal.workflow.list({ query })) waits.push(each);
    return [...waits, ...(await deliveriesAbout(temporal, session))];
  };
  await until('they are listed', async () => (await about()).length >= 3);
  const erased = await fetch(`${product.url}/api/chat/${session}`, { method: 'DELETE' });
  expect(erased.ok).toBe(true);
  await until('they are deleted', async () => (await about()).length === 0, 120_000);
  expect(hook.taken.filter(({ data }) => data['sessionId'] === session)).toHaveLength(2);
});

it.concurrent(
  'what is not taken is a failed workflow, and one that is reset is sent again under its id',
  async () => {
    gone.answer = () => ({ status: 410 });
    const session = sessionOf(await runLab(product, [{ fail: { status: 400 } }]));
    const { workflowId, reason } = await untilNotTaken(temporal, session, 'gone');
    expect(reason).toBe('The receiver answered 410.');
    const notified = await hook.untilTaken(session, 'delivery.failed');
    const delivery = workflowId.replace('deliver:', '');
    expect(notified.data).toMatchObject({ receiver: 'gone', code: 'http_410', delivery });
    // An untaken `delivery.failed` fails its own workflow, and no receiver hears of that.
    await untilNotTaken(temporal, session, 'deaf');
    expect(hook.taken.filter(({ type }) => type === 'delivery.failed')).toHaveLength(1);
    gone.answer = () => ({ status: 200 });
    await sendAgain(temporal, workflowId);
    await temporal.workflow.getHandle(workflowId).result();
    expect(gone.taken).toHaveLength(1);
  },
);

it.concurrent(
  'a test says whether a receiver takes notices; a private address is not connected to',
  async () => {
    expect(await line.read<object>('webhook', 'test', 'hook')).toEqual({ status: 'delivered' });
    expect(hook.taken.some(({ type }) => type === 'test')).toBe(true);
    const { code, stdout } = await line.helix(['webhook', 'test', 'inside', '-o', 'json']);
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      status: 'failed',
      problem: expect.stringContaining('private network'),
    });
    expect((await line.helix(['webhook', 'test', 'unknown'])).code).toBe(1);
    expect(await line.read<object[]>('webhook', 'list')).toHaveLength(4);
  },
);

it.concurrent(
  'a question whose time is over, and one of a sub-agent, are notified in both shapes',
  async () => {
    const child = { delegate: { script: [ask('charge', { amount: 7 })] } };
    await Promise.all(
      ['lab', 'lab-leg'].map(async (agent) => {
        const timed = sessionOf(
          await runLab(product, [ask('ask', { question: '?' })], undefined, agent),
        );
        const expired = await hook.untilTaken(timed, 'tool.expired');
        expect(expired.data).toMatchObject({ toolName: 'ask', outcome: 'expired' });
        const script = [ask('delegate', child.delegate)];
        const ofChild = sessionOf(await runLab(product, script, undefined, agent));
        const { data } = await hook.untilTaken(ofChild, 'approval.requested');
        expect(data).toMatchObject({
          toolName: 'charge',
          agent: expect.stringMatching(/^lab(-leg)?-child$/),
        });
        const token = new URL(String(data['decideUrl'])).searchParams.get('token') ?? '';
        expect(await decide(token)).toEqual([200]);
        await hook.untilTaken(ofChild, 'run.completed');
        expect(await decide(token, 'deny')).toEqual([409, 'already_completed']);
        const ofEnds = hook.taken.filter(({ type }) => type === 'approval.expired');
        expect(
          ofEnds.some((each) => [timed, ofChild].includes(String(each.data['sessionId']))),
        ).toBe(false);
      }),
    );
  },
);

it('a question that a killed worker asked arrives, though the receiver was away, with one id', async () => {
  hook.answer = () => ({ status: 503, headers: { 'retry-after': '1' } });
  const before = hook.attempts;
  const sessions = await Promise.all(
    Array.from({ length: 5 }, async () => sessionOf(await runLab(product, CHARGE))),
  );
  // The killed worker may have tried some of the deliveries.
  await product.kill9Worker();
  await product.startWorker();
  await until('it is tried in vain', async () => hook.attempts > before + 5);
  hook.answer = () => ({ status: 204 });
  for (const session of sessions) {
    await hook.untilTaken(session, 'approval.requested');
    const ids = hook.taken
      .filter(({ type, data }) => type === 'approval.requested' && data['sessionId'] === session)
      .map(({ id }) => id);
    expect(new Set(ids).size).toBe(1);
  }
});

it('a receiver that hangs delays neither chats nor other receivers, and gets everything later', async () => {
  hook.answer = () => undefined;
  const before = hook.attempts;
  const waiting = await Promise.all(
    Array.from({ length: 6 }, async () => sessionOf(await runLab(product, CHARGE))),
  );
  await until('it hangs', async () => hook.attempts >= before + 4);
  const runId = await runLab(product, [{ say: 'quick' }]);
  expect(await statusOf(runId)).toBe('completed');
  const failed = sessionOf(await runLab(product, [{ fail: { status: 400 } }]));
  await until('the other receiver hears of a failure', async () =>
    gone.taken.some(({ body }) => body.includes(failed)),
  );
  expect(hook.mostHanging).toBe(4);
  hook.answer = () => ({ status: 204 });
  hook.hangUp();
  for (const session of waiting) await hook.untilTaken(session, 'approval.requested');
});
