import { closeClient, connectCommands } from '../../../store/redis/clients.js';
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

it('why a connection failed is said until there is another one', () => {
  const client = connectCommands('redis://127.0.0.1:1', 'refuse');
  const unsent = new Error("Stream isn't writeable and enableOfflineQueue options is false");
  const saysWhy = (): unknown => (toContractError(unsent).cause as Error).message;
  client.emit('error', new Error('connect ECONNREFUSED'));
  expect(saysWhy()).toBe('connect ECONNREFUSED');
  client.emit('ready');
  expect(saysWhy()).toBe(unsent.message);
  closeClient(client);
});
