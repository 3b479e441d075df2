import { warnOfAccess } from '../../api/access-from-config.js';
import { parseEnv } from '../../config/env.js';

const warn = (env: Record<string, string>, hasAccounts = true): string[] =>
  warnOfAccess(parseEnv({ AUDIT_KEY: 'k'.repeat(32), ...env }), hasAccounts);

describe('warnOfAccess', () => {
  const JWT_JWKS_URL = 'https://id.test/keys';

  it('warnOfAccess warns of nothing where every user has an account of their own', () => {
    expect(warn({ JWT_JWKS_URL, JWT_AUDIENCE: 'chat' })).toEqual([]);
    expect(warn({ JWT_SECRET: 'of this application alone' })).toEqual([]);
  });

  it.each([
    ['of a server without accounts', {}, false, 'there is no sign-in'],
    ['of tokens for other applications', { JWT_JWKS_URL }, true, 'JWT_AUDIENCE is not set'],
    ['of an audit trail that is not signed', { AUDIT_KEY: '' }, true, 'AUDIT_KEY is not set'],
  ])('warnOfAccess warns %s', (_what, env, hasAccounts, text) => {
    expect(warn(env, hasAccounts)).toEqual([expect.stringContaining(text)]);
  });
});
