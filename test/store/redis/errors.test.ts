import { saysNotNow, toContractError } from '../../../store/redis/errors.js';

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
  const error = Object.assign(new Error(`${word} said Redis`), { name: 'ReplyError' });
  expect(saysNotNow(error)).toBe(mayRepeat);
  expect(toContractError(error)).toMatchObject(expected);
});
