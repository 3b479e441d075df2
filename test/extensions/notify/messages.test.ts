import { Webhook } from 'standardwebhooks';
import { toDecisionPage } from '../../../extensions/notify/decide-pages.js';
import { toMailText } from '../../../extensions/notify/mail.js';
import {
  joinMessages,
  toHeadline,
  toPlace,
  type Message,
} from '../../../extensions/notify/message.js';
import { toBody, toSignedRequest, toSlackMessage } from '../../../extensions/notify/sender.js';
import type { Notice } from '../../../protocol/notices.js';

const notice: Notice = {
  id: 'msg_1',
  type: 'approval.requested',
  at: 0,
  sessionId: 'hash~s-1',
  runId: 'r',
  agent: 'support',
  toolCallId: 'c1',
  toolName: 'issue_refund',
  deadline: 60_000,
};
const HOSTILE = {
  note: '<!channel> </script><script>alert(1)</script> *bold* _it_ ~no~ `x` <https://evil|x>',
};

it('a message has ids and names, and no input unless the settings add it', () => {
  const body = JSON.parse(toBody({ notice })) as { data: Record<string, unknown> };
  expect(body).toMatchObject({ type: 'approval.requested', timestamp: '1970-01-01T00:00:00.000Z' });
  expect(body.data).toEqual({
    sessionId: 's-1',
    runId: 'r',
    agent: 'support',
    toolCallId: 'c1',
    toolName: 'issue_refund',
    deadline: 60_000,
  });
  expect(toMailText({ notice })).not.toContain('Input');
  expect(toMailText({ notice, input: { amount: 5 } })).toContain('{"amount":5}');
});

it('a message in Slack has link buttons only, and its content mentions no one', () => {
  const message = toSlackMessage({
    notice: { ...notice, agent: '<!here>' },
    url: 'https://page.test/?session=s-1',
    decideUrl: 'https://page.test/api/decide?token=t',
    input: HOSTILE,
  });
  const text = JSON.stringify(message);
  expect(text).not.toMatch(/<!|<https|<script/);
  expect(text.match(/\u200b[*_~`]/g)).toHaveLength(8);
  expect(message).toMatchObject({
    text: expect.stringContaining('Issue refund'),
    blocks: [
      { type: 'section' },
      { type: 'section' },
      {
        type: 'actions',
        elements: [
          { type: 'button', url: 'https://page.test/api/decide?token=t', style: 'primary' },
          { text: { text: 'Open question' }, url: 'https://page.test/?session=s-1' },
        ],
      },
    ],
  });
});

it('what models wrote makes no message that Slack refuses, or makes links of', () => {
  for (const note of [
    '&'.repeat(2_000),
    '<'.repeat(2_000),
    '\u{1f600}'.repeat(1_000),
    'a_'.repeat(900),
  ]) {
    const { blocks } = toSlackMessage({ notice, input: { note } }) as {
      blocks: { text: { text: string; verbatim: boolean } }[];
    };
    for (const { text } of blocks) {
      expect(text.text.length).toBeLessThanOrEqual(3_000);
      expect(text.text.isWellFormed()).toBe(true);
      expect(text.text.replaceAll(/&(amp|lt|gt);/g, '')).not.toContain('&');
      expect(text.verbatim).toBe(true);
    }
  }
});

describe('a notice about several calls', () => {
  const url = 'https://page.test/console/waiting/s-1';
  const decideUrl = (n: number): string => `https://page.test/api/decide?token=t${String(n)}`;
  const single = (n: number): Message => ({
    notice: { ...notice, id: `msg_${String(n)}`, sessionId: `s-${String(n)}` },
    url: `https://page.test/console/waiting/s-${String(n)}`,
    decideUrl: decideUrl(n),
    input: HOSTILE,
    titles: { agent: 'Support', tool: 'Refund' },
  });

  it('of several conversations lets its reader decide each, or leads to the list', () => {
    const [first, ...more] = Array.from({ length: 25 }, (_, n) => single(n)) as [Message];
    const joined = joinMessages([first, ...more]);
    expect(toHeadline(joined)).toBe('Support asks for approval: Refund and 24 more');
    const { blocks } = toSlackMessage(joined) as {
      blocks: { accessory?: { url: string }; elements?: { url: string }[] }[];
    };
    const decides = blocks.flatMap(({ accessory }) => accessory?.url ?? []);
    expect(decides).toEqual(Array.from({ length: 20 }, (_, n) => decideUrl(n)));
    expect(blocks.at(-1)?.elements?.map((each) => each.url)).toEqual([
      'https://page.test/console/waiting',
    ]);
    expect(JSON.stringify(blocks)).not.toMatch(/<!|<https|<script/);
    expect(blocks.length).toBeLessThanOrEqual(50);
    const mail = toMailText(joined);
    expect(mail.match(/^Decide: /gm)).toHaveLength(20);
    expect(mail).toContain('conversation s-7');
    expect(joinMessages([first])).toBe(first);
    expect(toMailText(first)).toContain(`Decide: ${decideUrl(0)}`);
    expect(joined.notice).not.toHaveProperty('deadline');
    const items = [{ title: 'one' }, { title: 'two' }];
    const ofTwo = { ...first, items, notice: { ...first.notice, others: 1 } };
    const { notice: ofAll, items: all } = joinMessages([ofTwo, ofTwo]);
    expect([ofAll.others, all]).toEqual([3, [...items, ...items]]);
  });

  it('of failed deliveries tells them apart, and is one that Slack takes', () => {
    const failed = { id: 'msg_1', type: 'delivery.failed', at: 0, receiver: 'desk' } as const;
    const joined = joinMessages([
      { notice: { ...failed, code: 'busy', delivery: 'd-0' } },
      { notice: { ...failed, code: 'gone', delivery: 'd-1' } },
    ]);
    const [, facts, ...items] = (
      toSlackMessage(joined) as { blocks: { text?: { text: string } }[] }
    ).blocks.map(({ text }) => text?.text);
    expect(facts).toBe('*Receiver* desk');
    expect(items).toEqual([
      'A notice was not taken · code busy · delivery d-0',
      'A notice was not taken · code gone · delivery d-1',
    ]);
  });

  it('of one step names each call to a program', () => {
    const calls = ['c1', 'c2'].map((toolCallId) => ({ toolCallId, toolName: 'refund' }));
    const items = calls.map((call) => ({ ...call, title: 'Refund', sessionId: 'hash~s-1' }));
    const of = { ...notice, calls, others: 1 };
    const { data } = JSON.parse(toBody({ notice: of, url, items })) as { data: object };
    expect(data).toMatchObject({ sessionId: 's-1', toolCallId: 'c1', others: 1, calls });
    expect(JSON.stringify(data)).not.toContain('hash~');
  });
});

it('the link of a notice leads to the page of the console where its reader can act', () => {
  const place = (type: Notice['type'], of: Partial<Notice> = {}): string =>
    toPlace({ type, ...of }).path;
  const asked = { sessionId: 'Hash0123456789ab~s:1', runId: 'r', toolCallId: 'c1' };
  expect(place('approval.requested', asked)).toBe('/console/waiting/s%3A1');
  expect(place('tool.escalated', asked)).toBe('/console/waiting/s%3A1');
  expect(place('run.failed', { sessionId: 's-1', runId: 's-1:1-x' })).toBe(
    '/console/runs/s-1%3A1-x',
  );
  expect(place('spend.exceeded')).toBe('/console/usage');
  expect(place('approval.requested')).toBe('/console/waiting');
  expect(place('run.failed')).toBe('/console/runs');
  expect(place('test')).toBe('/console');
});

it('the page of a link shows what models wrote as text', () => {
  const page = toDecisionPage({
    token: 'a.b.c',
    agent: '<img src=a>',
    title: '<img src=y>',
    person: '"><img src=x>',
    description: '<script>0</script>',
    input: { ...HOSTILE, '<img src=z>': [{}] },
    deadline: undefined,
    hidden: ['<script>1</script>'],
  });
  expect(page).not.toMatch(/<script|<img|<!channel/);
  expect(page).toContain('The model saw 1 message that');
  expect(page).toContain('method="post"');
});

it('messages and pages have titles in place of names, and values by field', () => {
  const call = { ...notice, agent: 'helpDesk', toolName: 'lookupOrder' };
  expect(toHeadline({ notice: call })).toBe('Help desk asks for approval: Lookup order');
  const titles = { agent: 'Support', tool: 'Look up an order' };
  expect(toHeadline({ notice: { ...call, others: 2 }, titles })).toBe(
    'Support asks for approval: Look up an order and 2 more',
  );
  const failed = { ...call, type: 'delivery.failed', others: 2 } as const;
  expect(toHeadline({ notice: failed })).toBe('A notice was not taken: Lookup order and 2 more');
  const page = toDecisionPage({
    token: 't',
    agent: 'Support',
    title: titles.tool,
    person: 'lea',
    deadline: undefined,
    hidden: [],
    description: 'Reads an order.',
    input: { orderId: 'A1', lines: [{ itemCount: 2 }] },
  });
  expect(page).toContain('<h1>Look up an order</h1>');
  expect(page).toContain('Reads an order.');
  expect(page).toContain('<dt>Order ID</dt><dd>A1</dd>');
  expect(page).toContain('<dt>Item count</dt><dd>2</dd>');
  expect(page).toContain('No deadline');
});

it('each of two secrets signs a message while one is replaced', () => {
  const [old, fresh] = [`whsec_${'b'.repeat(32)}`, `whsec_${'c'.repeat(32)}`];
  const { headers, body } = toSignedRequest([fresh, old], { notice });
  expect(headers['webhook-id']).toBe('msg_1');
  for (const key of [old, fresh]) {
    expect(new Webhook(key).verify(body, headers)).toEqual(JSON.parse(body));
  }
  expect(() => new Webhook(`whsec_${'d'.repeat(32)}`).verify(body, headers)).toThrow();
});
