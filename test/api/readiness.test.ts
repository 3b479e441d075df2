import { createReadiness } from '../../api/readiness.js';

it('requests for readiness at the same time share one check', async () => {
  let looks = 0;
  const read = createReadiness({
    redis: () => {
      looks += 1;
      return Promise.resolve();
    },
  });
  const asked = Array.from({ length: 50 }, read);
  expect(new Set((await Promise.all(asked)).map(({ status }) => status))).toEqual(new Set(['ok']));
  expect(looks).toBe(1);
  await read();
  expect(looks).toBe(2);
});
