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

it('a part that was never there makes the process unready, a later loss only if it is Redis', async () => {
  const away = { redis: false, temporal: true };
  const check = (name: keyof typeof away) => () =>
    away[name] ? Promise.reject(new Error('away')) : Promise.resolve();
  const read = createReadiness({ redis: check('redis'), temporal: check('temporal') });
  expect(await read()).toMatchObject({ status: 'unavailable', away: ['temporal'] });
  away.temporal = false;
  expect(await read()).toMatchObject({ status: 'ok' });
  away.temporal = true;
  expect(await read()).toMatchObject({ status: 'ok', away: ['temporal'] });
  away.redis = true;
  expect(await read()).toMatchObject({ status: 'unavailable' });
});
