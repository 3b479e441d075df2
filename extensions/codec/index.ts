import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { Payload, PayloadCodec } from '@temporalio/common';
import type { Extension } from '../../extension.js';
import { HelixError } from '../../protocol/errors.js';
import { toCodecRoutes } from './routes.js';

const ENCODING = 'binary/encrypted';
const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** A key that encrypts payloads. */
export interface PayloadKey {
  /** Name of the key, stored in the clear with each payload. */
  id: string;
  /** 32 bytes. */
  key: Uint8Array;
}

/**
 * Encrypts the inputs, results, signals, updates and summaries that Temporal stores, and serves a codec
 * server for Temporal's UI. API and workers need the same keys. Without keys nothing is encrypted, and a
 * payload that others encrypted is refused by the id of its key.
 *
 * @throws the errors of `createPayloadCodec`
 * @example
 * import { Connection } from '@temporalio/client';
 * import { AgentRegistry } from 'helix-temporal';
 * import { codec } from 'helix-temporal/codec';
 * import { createAgentExecutor } from 'helix-temporal/executor';
 * import { createRedisStores } from 'helix-temporal/store-redis';
 *
 * const key = Buffer.from(process.env['PAYLOAD_KEY'] ?? '', 'base64');
 * const executor = await createAgentExecutor({
 *   connection: await Connection.connect(),
 *   agents: new AgentRegistry(),
 *   stores: createRedisStores({ url: 'redis://localhost:6379' }),
 *   extensions: [codec([{ id: '2026-11', key }])],
 * });
 */
export function codec(keys: readonly PayloadKey[] = []): Extension {
  const payloadCodec = keys.length === 0 ? undefined : createPayloadCodec(keys);
  return {
    name: 'codec',
    payloadCodec: payloadCodec ?? { ...createCodec([]), isPlain: true },
    routes: toCodecRoutes(payloadCodec),
    // Temporal's UI adds it to each request.
    crossOrigin: { allowed: ['x-namespace'] },
  };
}

/**
 * Creates the codec alone, for clients and workers of your own. It uses AES-256-GCM in the format of
 * Temporal's samples, so their codec servers and other SDKs can read it. Search attributes stay readable;
 * they contain ids and names of agents.
 *
 * The first key encrypts; all keys decrypt. To rotate, add a new key at the end on every process, then move
 * it to the front, and drop the old one when its last run has left the retention. Payloads from before the
 * codec stay readable.
 *
 * @example
 * import { Client, Connection } from '@temporalio/client';
 * import { createPayloadCodec } from 'helix-temporal/codec';
 *
 * const key = Buffer.from(process.env.PAYLOAD_KEY ?? '', 'base64');
 * const payloadCodecs = [createPayloadCodec([{ id: '2026', key }])];
 * const connection = await Connection.connect();
 * const client = new Client({ connection, dataConverter: { payloadCodecs } });
 *
 * @throws Error if a key does not have 32 bytes, or two have the same id; from `decode`, if the payload was
 * changed, and HelixError `unavailable` if its key is unknown
 */
export function createPayloadCodec(keys: readonly PayloadKey[]): PayloadCodec {
  if (keys.length === 0) throw new Error('A payload codec needs a key.');
  if (new Set(keys.map(({ id }) => id)).size < keys.length) {
    throw new Error('Two payload keys have the same id.');
  }
  for (const { id, key } of keys) {
    if (key.length !== KEY_BYTES) throw new Error(`The payload key "${id}" must have 32 bytes.`);
  }
  return createCodec(keys);
}

function createCodec(keys: readonly PayloadKey[]): PayloadCodec {
  const [current] = keys;
  const byId = new Map(keys.map(({ id, key }) => [id, key]));
  return {
    encode: (payloads) =>
      Promise.all(payloads.map(async (payload) => (current ? encrypt(payload, current) : payload))),
    decode: (payloads) => Promise.all(payloads.map(async (payload) => decrypt(payload, byId))),
  };
}

function encrypt(payload: Payload, { id, key }: PayloadKey): Payload {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv(CIPHER, key, iv);
  const plain = encodePayload(payload);
  return {
    metadata: { encoding: Buffer.from(ENCODING), 'encryption-key-id': Buffer.from(id) },
    data: Buffer.concat([iv, cipher.update(plain), cipher.final(), cipher.getAuthTag()]),
  };
}

function decrypt(payload: Payload, keys: ReadonlyMap<string, Uint8Array>): Payload {
  const { metadata, data } = payload;
  // The payload was stored before the codec was in use.
  if (toText(metadata?.['encoding']) !== ENCODING) return payload;
  const id = toText(metadata?.['encryption-key-id']);
  const key = keys.get(id);
  if (key === undefined) {
    throw new HelixError(
      'unavailable',
      `The payload key "${id}" is not among the keys of this process: add it to TEMPORAL_CODEC_KEYS, behind the first.`,
    );
  }
  const bytes = Buffer.from(data ?? []);
  if (bytes.length < IV_BYTES + TAG_BYTES) throw new Error('An encrypted payload is too short.');
  const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, IV_BYTES));
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
  const plain = [decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES)), decipher.final()];
  return decodePayload(Buffer.concat(plain));
}

function toText(bytes: Uint8Array | null | undefined): string {
  return Buffer.from(bytes ?? []).toString();
}

/** Field tags of `temporal.api.common.v1.Payload`: `metadata`, a map, and `data`. */
const METADATA = (1 << 3) | 2;
const DATA = (2 << 3) | 2;

/** Field tags of a map entry. */
const KEY = (1 << 3) | 2;
const VALUE = (2 << 3) | 2;

/**
 * Encodes a payload as the protocol-buffer message that the codecs of all Temporal SDKs encrypt. The
 * encoding is written out here because a second copy of `@temporalio/proto`, which a range of peers may
 * install, ends the process that loads it.
 */
export function encodePayload({ metadata, data }: Payload): Uint8Array {
  const entries = Object.entries(metadata ?? {}).map(([name, value]) =>
    toField(METADATA, Buffer.concat([toField(KEY, Buffer.from(name)), toField(VALUE, value)])),
  );
  // A message without data, such as the result of an update without one, has a plain array.
  return Buffer.concat([...entries, ...(ArrayBuffer.isView(data) ? [toField(DATA, data)] : [])]);
}

function toField(tag: number, bytes: Uint8Array): Uint8Array {
  const head = [tag];
  let length = bytes.byteLength;
  for (; length > 0x7f; length = Math.floor(length / 0x80)) head.push((length % 0x80) | 0x80);
  return Buffer.concat([Buffer.from([...head, length]), bytes]);
}

/** @throws Error if the bytes are not such a message */
export function decodePayload(bytes: Uint8Array): Payload {
  const payload: Payload = { metadata: {} };
  for (const [tag, field] of readFields(bytes)) {
    if (tag === DATA) payload.data = field;
    if (tag !== METADATA) continue;
    const entry = new Map(readFields(field));
    const name = toText(entry.get(KEY));
    payload.metadata = { ...payload.metadata, [name]: entry.get(VALUE) ?? new Uint8Array() };
  }
  return payload;
}

/** Reads length-delimited fields. @throws Error for any other field, and for bytes that end early */
function* readFields(bytes: Uint8Array): Generator<[tag: number, field: Uint8Array]> {
  for (let at = 0; at < bytes.length;) {
    const tag = bytes[at] ?? 0;
    let length = 0;
    let byte = 0x80;
    at += 1;
    for (let factor = 1; byte >= 0x80; factor *= 0x80) {
      byte = bytes[at] ?? 0;
      length += (byte % 0x80) * factor;
      at += 1;
    }
    if (tag >= 0x80 || (tag & 7) !== 2 || at + length > bytes.length) {
      throw new Error('An encrypted payload is no payload of Temporal.');
    }
    yield [tag, bytes.subarray(at, at + length)];
    at += length;
  }
}
