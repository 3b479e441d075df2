import { randomBytes } from 'node:crypto';
import { ConfigError } from '../../../config/env.js';
import { readPayloadKeys } from '../../../extensions/codec/settings.js';

const bytes = randomBytes(32);
const secret = bytes.toString('base64');

describe('readPayloadKeys', () => {
  it('readPayloadKeys reads the keys in their order', () => {
    expect(readPayloadKeys(undefined)).toBeUndefined();
    expect(readPayloadKeys(`new:${secret}, old:${secret}`)).toEqual([
      { id: 'new', key: bytes },
      { id: 'old', key: bytes },
    ]);
  });

  it.each([
    ['text that is no key', secret],
    ['a key that is too short', `a:${randomBytes(16).toString('base64')}`],
    ['an id that stands twice', `a:${secret},a:${secret}`],
    ['an empty part', `a:${secret},`],
  ])('readPayloadKeys refuses %s, without showing a key', (_, text) => {
    const fail = (): unknown => readPayloadKeys(text);
    expect(fail).toThrow(ConfigError);
    expect(fail).toThrow('TEMPORAL_CODEC_KEYS');
    expect(fail).not.toThrow(secret);
  });
});
