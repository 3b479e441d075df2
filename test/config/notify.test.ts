import { parseEnv } from '../../config/env.js';
import { readNotify } from '../../config/notify.js';

it('links are not signed with the key of sign-in', () => {
  const read = (linkKeys: string): unknown =>
    readNotify(
      parseEnv({
        ...{ NOTIFY_RECEIVERS: '[]', PUBLIC_URL: 'https://chat.example.com' },
        ...{ JWT_SECRET: 'j'.repeat(40), NOTIFY_LINK_KEY: linkKeys },
      }),
    );
  expect(() => read(`${'k'.repeat(40)},${'j'.repeat(40)}`)).toThrow(
    'NOTIFY_LINK_KEY and JWT_SECRET must differ',
  );
  expect(read('k'.repeat(40))).toMatchObject({ linkKeys: ['k'.repeat(40)] });
});
