import { describe, expect, it } from '@jest/globals';
import { inTenant } from '../../api/chosen-tenant.js';
import type { Identity } from '../../api/identity.js';

const olga: Identity = { userId: 'olga', tenantId: 'ops', roles: ['operator'] };
const refusalOf = (work: () => unknown): unknown => {
  try {
    return work();
  } catch (error) {
    return (error as { code?: string }).code;
  }
};

describe('the tenant on which an operator acts', () => {
  it('it is one of those that the identity names, under a name that no user of it has', () => {
    const wide = { ...olga, tenants: ['acme', 'rival'] };
    expect(inTenant(wide, 'acme')).toEqual({ ...wide, tenantId: 'acme', userId: 'ops|olga' });
    expect(inTenant({ ...olga, tenants: ['*'] }, 'any').tenantId).toBe('any');
    expect(inTenant(wide, 'ops')).toBe(wide);
    for (const tenant of ['other', '', '*', undefined]) {
      expect(refusalOf(() => inTenant(wide, tenant))).toBe('not_allowed');
    }
    expect(refusalOf(() => inTenant({ ...olga, tenants: ['*'] }, '*'))).toBe('not_allowed');
    expect(refusalOf(() => inTenant(olga, 'acme'))).toBe('not_allowed');
  });
});
