import { isTemporary, toContractError } from '../../../store/redis/errors.js';

const NOT_NOW = [
  'LOADING',
  'READONLY',
  'MASTERDOWN',
  'CLUSTERDOWN',
  'TRYAGAIN',
  'MOVED',
  'ASK',
  'NOREPLICAS',
  'MISCONF',
  'OOM',
  'BUSY',
];

it.each([
  ...NOT_NOW.map((word) => [word, true, { code: 'unavailable' }] as const),
  ['WRONGTYPE', false, { code: 'corrupt_record' }],
  ['ERR', false, { name: 'Error' }],
])('a refusal with %s may be repeated: %s', (word, mayRepeat, expected) => {
  // In a script, Redis 6.2 names the place.
  for (const place of [
    '',
    '@user_script: 22: -',
    'ERR Error running script (call to f_1): @user_script:1: ',
  ]) {
    const said = new Error(`${place}${word} said Redis`);
    const error = Object.assign(said, { name: 'ReplyError' });
    expect(isTemporary(error)).toBe(mayRepeat);
    expect(toContractError(error)).toMatchObject(expected);
  }
});

it.each(["'SSUBSCRIBE'", '`SSUBSCRIBE`'])('a Redis without the command %s is named', (quoted) => {
  const said = new Error(`ERR unknown command ${quoted}, with args beginning with: `);
  const error = Object.assign(said, { name: 'ReplyError' });
  expect(toContractError(error).message).toContain('a Redis without SSUBSCRIBE.');
});
