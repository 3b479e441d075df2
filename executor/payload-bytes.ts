import type { Payload } from '@temporalio/common';
import protobuf from 'protobufjs/minimal.js';

const { Reader, Writer } = protobuf;

/** Tags of the fields of `temporal.api.common.v1.Payload`: `metadata`, a map, and `data`. */
const METADATA = (1 << 3) | 2;
const DATA = (2 << 3) | 2;
/** Tags of an entry of a map. */
const KEY = (1 << 3) | 2;
const VALUE = (2 << 3) | 2;

/**
 * A payload as the protocol-buffer message that codecs of all of Temporal's SDKs encrypt. Written
 * out here, since a second copy of `@temporalio/proto`, as a range of peers may bring, ends the
 * process that loads it.
 */
export function encodePayload({ metadata, data }: Payload): Uint8Array {
  const writer = Writer.create();
  for (const [key, value] of Object.entries(metadata ?? {})) {
    writer.uint32(METADATA).fork().uint32(KEY).string(key).uint32(VALUE).bytes(value).ldelim();
  }
  if (data != null) writer.uint32(DATA).bytes(data);
  return writer.finish();
}

/** @throws Error if the bytes are no such message */
export function decodePayload(bytes: Uint8Array): Payload {
  const reader = Reader.create(bytes);
  const payload: Payload = { metadata: {} };
  while (reader.pos < reader.len) {
    const tag = reader.uint32();
    if (tag === METADATA) {
      const length = reader.uint32();
      const [key, value] = readEntry(reader, reader.pos + length);
      payload.metadata = { ...payload.metadata, [key]: value };
    } else if (tag === DATA) payload.data = reader.bytes();
    else reader.skipType(tag & 7);
  }
  return payload;
}

function readEntry(reader: protobuf.Reader, end: number): [key: string, value: Uint8Array] {
  let key = '';
  let value: Uint8Array = new Uint8Array();
  while (reader.pos < end) {
    const tag = reader.uint32();
    if (tag === KEY) key = reader.string();
    else if (tag === VALUE) value = reader.bytes();
    else reader.skipType(tag & 7);
  }
  return [key, value];
}
