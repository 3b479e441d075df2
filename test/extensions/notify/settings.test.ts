import { parseEnv } from '../../../config/env.js';
import { readNotify } from '../../../extensions/notify/settings.js';

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

it('deliveries are retried for as long as the setting says', () => {
  const settings = readNotify(parseEnv({ NOTIFY_RECEIVERS: '[]', NOTIFY_RETRY_FOR: '11s' }));
  expect(settings).toMatchObject({ retryForMs: 11_000 });
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
