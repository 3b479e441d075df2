import { createCipheriv, randomBytes } from 'node:crypto';
import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import proto from '@temporalio/proto';
import fc from 'fast-check';
import {
  codec,
  createPayloadCodec,
  decodePayload,
  encodePayload,
  type PayloadKey,
} from '../../../extensions/codec/index.js';
import { hasCodec, withCodecs } from '../../../runs/extension.js';

const CANARY = 'the canary sings';

const key = (id: string): PayloadKey => ({ id, key: randomBytes(32) });

const toPayload = (value: unknown): Payload => defaultPayloadConverter.toPayload(value);

/** Returns a payload's bytes, its metadata included. */
const bytesOf = ({ data, metadata = {} }: Payload): string =>
  Buffer.concat([...Object.values(metadata ?? {}), data ?? new Uint8Array()]).toString('latin1');

it('payloads are encoded as the messages that other SDKs read', () => {
  const { Payload: Message } = proto.temporal.api.common.v1;
  const { metadata } = toPayload(1);
  const payload: Payload = { metadata: { ...metadata, messageType: Buffer.from('a.b') } };
  let encoded = Buffer.alloc(0);
  for (const length of [4, 0x7f, 0x80, 0x4000]) {
    payload.data = Buffer.alloc(length, 'data');
    encoded = Buffer.from(encodePayload(payload));
    expect(encoded).toEqual(Buffer.from(Message.encode(payload).finish()));
    expect(bytesOf(decodePayload(encoded))).toBe(bytesOf(payload));
  }
  expect(decodePayload(encodePayload({ data: new Uint8Array() })).data).toHaveLength(0);
  const empty = Message.create({ metadata: payload.metadata });
  expect(Buffer.from(encodePayload(empty))).toEqual(Buffer.from(Message.encode(empty).finish()));
  expect(() => decodePayload(encoded.subarray(0, -1))).toThrow('no payload');
});

describe('the payload codec', () => {
  it('the payload codec gives back what it encrypted, and nothing of it can be read', async () => {
    const payloadCodec = createPayloadCodec([key('a')]);
    await fc.assert(
      fc.asyncProperty(fc.jsonValue(), async (value) => {
        const plain = Array.from({ length: 3 }, () => toPayload({ value, canary: CANARY }));
        const encrypted = await payloadCodec.encode(plain);
        expect(encrypted.map(bytesOf).join()).not.toContain(CANARY);
        expect((await payloadCodec.decode(encrypted)).map(bytesOf)).toEqual(plain.map(bytesOf));
      }),
      { numRuns: 50 },
    );
  });

  it('the payload codec reads what the codecs of Temporal’s samples have encrypted', async () => {
    const own = key('a');
    const iv = randomBytes(12);
    const cipher = createCipheriv('aes-256-gcm', own.key, iv);
    const plain = proto.temporal.api.common.v1.Payload.encode(toPayload(CANARY)).finish();
    const data = Buffer.concat([iv, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
    const [encoding, id] = ['binary/encrypted', 'a'].map((text) => Buffer.from(text));
    const payload = { metadata: { encoding, 'encryption-key-id': id }, data } as Payload;
    const [decoded = {}] = await createPayloadCodec([own]).decode([payload]);
    expect(defaultPayloadConverter.fromPayload(decoded)).toBe(CANARY);
  });

  it('the payload codec encrypts the same value differently each time', async () => {
    const payloadCodec = createPayloadCodec([key('a')]);
    const [first = {}, second = {}] = await payloadCodec.encode([toPayload('x'), toPayload('x')]);
    expect(bytesOf(first)).not.toBe(bytesOf(second));
  });

  it('the payload codec reads payloads of a rotated key, and those from before it was in use', async () => {
    const [old, current] = [key('old'), key('new')];
    const [encrypted = {}] = await createPayloadCodec([old]).encode([toPayload(CANARY)]);
    const rotated = createPayloadCodec([current, old]);
    const decoded = await rotated.decode([encrypted, toPayload('plain')]);
    expect(decoded.map((each) => defaultPayloadConverter.fromPayload(each))).toEqual([
      CANARY,
      'plain',
    ]);
    const [again = {}] = await rotated.encode([toPayload(1)]);
    expect(Buffer.from(again.metadata?.['encryption-key-id'] ?? []).toString()).toBe('new');
  });

  it('the payload codec rejects what was changed, and names a key that it does not know', async () => {
    const payloadCodec = createPayloadCodec([key('a')]);
    const [encrypted = {}] = await payloadCodec.encode([toPayload(CANARY)]);
    const data = Uint8Array.from(encrypted.data ?? []);
    data[20] = (data[20] ?? 0) ^ 1;
    await expect(payloadCodec.decode([{ ...encrypted, data }])).rejects.toThrow();
    const short = { ...encrypted, data: data.slice(0, 10) };
    await expect(payloadCodec.decode([short])).rejects.toThrow('too short');
    await expect(createPayloadCodec([key('b')]).decode([encrypted])).rejects.toThrow(
      /"a" is not among the keys.*TEMPORAL_CODEC_KEYS/,
    );
  });

  it('without keys payloads stay as they are, an encrypted one is named, and another codec takes over', async () => {
    const { payloadCodec } = codec();
    const converter = withCodecs(undefined, [{ payloadCodec }]);
    expect(hasCodec(converter)).toBe(false);
    const plain = [toPayload(CANARY)];
    expect(await payloadCodec?.encode(plain)).toEqual(plain);
    expect(await payloadCodec?.decode(plain)).toEqual(plain);
    const encrypting = createPayloadCodec([key('a')]);
    await expect(payloadCodec?.decode(await encrypting.encode(plain))).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringMatching(/"a" is not among the keys.*TEMPORAL_CODEC_KEYS/),
    });
    // It must not refuse what a codec of the caller's own has encrypted.
    const own = withCodecs({ payloadCodecs: [encrypting] }, [{ payloadCodec }]);
    expect(own?.payloadCodecs).toEqual([encrypting]);
    expect(hasCodec(own)).toBe(true);
  });

  it('the payload codec refuses keys of another length, two of one id, and none', () => {
    expect(() => createPayloadCodec([{ id: 'a', key: randomBytes(16) }])).toThrow('32 bytes');
    expect(() => createPayloadCodec([key('a'), key('a')])).toThrow('same id');
    expect(() => createPayloadCodec([])).toThrow('needs a key');
  });
});
