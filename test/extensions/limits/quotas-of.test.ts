import { createQuotasOf, toQuotas } from '../../../extensions/limits/quotas.js';

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
