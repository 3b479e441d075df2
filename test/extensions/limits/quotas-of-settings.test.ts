import { readQuotas, toQuotas, createQuotasOf } from '../../../extensions/limits/quotas.js';
import { parseEnv } from '../../../config/env.js';

const quotasOf = (env: Record<string, string>, isOpen: boolean) =>
  readQuotas(parseEnv(env), { isOpen });

describe('quotas from the settings', () => {
  it('the default is 20 runs, 10 queued messages, 1,000 conversations and 256 MB per user, 50 times that per tenant', () => {
    expect(quotasOf({}, false)).toEqual({
      user: { runs: 20, queued: 10, sessions: 1_000, bytes: 256 * 1024 * 1024 },
      tenant: { runs: 1_000, queued: 500, sessions: 50_000, bytes: 50 * 256 * 1024 * 1024 },
    });
  });

  it('only an open server that no other machine reaches is unlimited', () => {
    expect(quotasOf({}, true)).toBe('unlimited');
    expect(quotasOf({ HOST: '0.0.0.0' }, true)).toEqual(toQuotas());
    expect(quotasOf({ HOST: '127.0.0.1' }, false)).toEqual(toQuotas());
    expect(quotasOf({ QUOTA_RUNS: '3' }, true)).toEqual(toQuotas({ runs: 3 }));
  });

  it('settings replace the default quotas', () => {
    const env = { QUOTA_MB: '2', QUOTA_QUEUED: '3', QUOTA_SESSIONS: '4', QUOTA_TENANT_FACTOR: '5' };
    const user = { bytes: 2 * 1024 * 1024, queued: 3, sessions: 4 };
    expect(quotasOf(env, false)).toEqual(toQuotas(user, 5));
  });
});

const ann = { owner: 'ann' };
const unnamed = { owner: 'anonymous' };

it('a user who is named has the usual quotas, a program that names none has no limit', () => {
  const quotasOf = createQuotasOf(undefined);
  expect(quotasOf(ann)).toEqual(toQuotas());
  expect(quotasOf(unnamed)).toBeUndefined();
  expect(quotasOf({ ...unnamed, tenant: 'acme' })).toEqual(toQuotas());
});

it('configured quotas apply to every user', () => {
  const few = toQuotas({ runs: 1 });
  expect([ann, unnamed].map(createQuotasOf(few))).toEqual([few, few]);
  expect(createQuotasOf('unlimited')(ann)).toBeUndefined();
});
