import { readFileSync } from 'node:fs';
import { parseEnv } from '../../../config/env.js';
import {
  approverIn,
  readNotify,
  toNotifySettings,
  toRunNotices,
  wants,
  type NotifySettings,
  type ReceiverInput,
} from '../../../extensions/notify/settings.js';

const SECRET = `whsec_${'a'.repeat(32)}`;
const hook: ReceiverInput = {
  name: 'hook',
  kind: 'webhook',
  url: 'https://x.test/a',
  secrets: [SECRET],
};
const slack: ReceiverInput = { name: 'ops', kind: 'slack', url: 'https://hooks.slack.test/a' };

const settings = (...receivers: ReceiverInput[]): NotifySettings => toNotifySettings({ receivers });

describe('receivers', () => {
  it.each([
    [[{ ...hook, secrets: ['short'] }], 'whsec_'],
    [[{ ...hook, secrets: [`whsec_${'a'.repeat(31)}`] }], '24 bytes or more'],
    [[{ ...hook, url: 'ftp://x.test' }], 'http'],
    [[{ ...hook, url: 'https://a:b@x.test' }], 'no user or password'],
    [[hook, hook], 'the same name'],
    [[{ ...hook, name: 'A b' }], 'must be 1 to 40'],
    [[{ ...hook, evnts: [] }], 'evnts'],
    [[{ name: 'm', kind: 'mail', to: 'ann@x.test' }], 'SMTP'],
  ])('a list with a mistake is refused, without its secrets: %#', (receivers, text) => {
    const make = (): unknown => toNotifySettings({ receivers: receivers as never });
    expect(make).toThrow(text);
    expect(make).not.toThrow(SECRET);
  });

  it('links need a key of some length, and the address of the page', () => {
    expect(() => toNotifySettings({ receivers: [], linkKeys: ['k'.repeat(31)] })).toThrow('32');
    expect(() => toNotifySettings({ receivers: [], linkKeys: ['k'.repeat(32)] })).toThrow(
      'address',
    );
  });

  it('a webhook gets everything, a channel what people want to hear of', () => {
    const [program, channel] = settings(hook, slack).receivers as [never, never];
    expect(wants(program, 'run.completed', undefined)).toBe(true);
    expect(wants(channel, 'run.completed', undefined)).toBe(false);
    expect(wants(channel, 'approval.requested', 'acme')).toBe(true);
  });

  it('the next receivers get what was escalated, and the first ones do not', () => {
    const [first, next] = settings(slack, { ...hook, escalation: true }).receivers as [
      never,
      never,
    ];
    expect([wants(first, 'approval.escalated', ''), wants(next, 'approval.escalated', '')]).toEqual(
      [false, true],
    );
    expect(wants(next, 'approval.requested', '')).toBe(false);
  });

  it('the example with channels of Slack asks the desk, and escalates to those on call', () => {
    const example = new URL('../../../examples/approvals-slack/receivers.json', import.meta.url);
    const receivers = JSON.parse(readFileSync(example, 'utf8')) as ReceiverInput[];
    const [desk, onCall] = toNotifySettings({ receivers }).receivers as [never, never];
    for (const [type, gets] of [
      ['approval.requested', [true, false]],
      ['approval.escalated', [false, true]],
    ] as const) {
      expect([wants(desk, type, 'acme'), wants(onCall, type, 'acme')]).toEqual(gets);
    }
  });

  it.each([
    ['acme', 'acme', true, true],
    ['acme', 'other', false, false],
    ['acme', undefined, false, false],
    // An approver of a receiver without a tenant is a person without one.
    [undefined, undefined, true, true],
    [undefined, 'acme', true, false],
    [null, undefined, true, true],
    [null, 'acme', false, false],
  ])(
    'a receiver of tenant %s in tenant %s: gets notices %s, decides by link %s',
    (own, tenant, gets, decides) => {
      const approver = { userId: 'lina' };
      const [receiver] = settings({ ...slack, tenant: own, approver }).receivers as [never];
      expect(wants(receiver, 'approval.requested', tenant)).toBe(gets);
      expect(approverIn(receiver, tenant) !== undefined).toBe(decides);
    },
  );

  it('runs start notices only for what a receiver wants', () => {
    expect(toRunNotices(settings())).toBeUndefined();
    for (const tenant of [undefined, 'acme']) {
      const wanted = { calls: ['approval'], ends: ['failed'] };
      expect(toRunNotices(settings({ ...slack, tenant }))).toEqual(wanted);
    }
    expect(toRunNotices(settings(hook))).toEqual({
      calls: ['approval', 'client'],
      ends: ['completed', 'failed', 'interrupted', 'aborted'],
    });
  });
});

it('links are not signed with the key of sign-in', () => {
  const read = (linkKeys: string): unknown =>
    readNotify(
      parseEnv({
        NOTIFY_RECEIVERS: '[]',
        PUBLIC_URL: 'https://chat.example.com',
        JWT_SECRET: 'j'.repeat(40),
        NOTIFY_LINK_KEY: linkKeys,
      }),
    );
  expect(() => read(`${'k'.repeat(40)},${'j'.repeat(40)}`)).toThrow(
    'NOTIFY_LINK_KEY and JWT_SECRET must differ',
  );
  expect(read('k'.repeat(40))).toMatchObject({ linkKeys: ['k'.repeat(40)] });
});

it('receivers are read from a file, and times and contents from the settings', () => {
  const settings = readNotify(
    parseEnv({
      NOTIFY_RECEIVERS: '@examples/approvals-slack/receivers.json',
      NOTIFY_REMIND_AFTER: '1s,2s',
      NOTIFY_ESCALATE_AFTER: '3s',
      NOTIFY_RETRY_FOR: '11s',
      NOTIFY_PER_HOUR: '4',
      NOTIFY_INCLUDE_INPUT: '1',
      PUBLIC_URL: 'https://chat.example.com',
    }),
  );
  expect(settings).toMatchObject({
    receivers: { length: 2 },
    remindAfterMs: [1_000, 2_000],
    escalateAfterMs: 3_000,
    retryForMs: 11_000,
    perHour: 4,
    includeInput: true,
    publicUrl: 'https://chat.example.com',
  });
  // The reason of a malformed list would quote it.
  const read = (): unknown => readNotify(parseEnv({ NOTIFY_RECEIVERS: SECRET }));
  expect(read).toThrow('must be a JSON list');
});

it.each([
  [{ JWT_SECRET: 'j'.repeat(40) }, {}, 'the receiver "lina" has an approver and needs'],
  [{ JWT_JWKS_URL: 'https://id.test/keys' }, {}, 'the receiver "lina" has an approver and needs'],
  [{ JWT_SECRET: 'j'.repeat(40) }, { tenant: 'acme' }, undefined],
  [{ JWT_SECRET: 'j'.repeat(40) }, { tenant: null }, undefined],
  [{}, {}, undefined],
])('where tokens may have tenants, an approver needs one: %#', (env, extra, refusal) => {
  const receiver = { name: 'lina', approver: { userId: 'lina' }, ...extra };
  const read = (): unknown =>
    readNotify(parseEnv({ ...env, NOTIFY_RECEIVERS: JSON.stringify([receiver]) }));
  if (refusal === undefined) expect(read()).toMatchObject({ receivers: [receiver] });
  else expect(read).toThrow(refusal);
});
