import type { Client } from '@temporalio/client';

/** True if a client encodes payloads, see `createPayloadCodec`. */
export function hasCodec(client: {
  options: Partial<Pick<Client['options'], 'loadedDataConverter'>>;
}): boolean {
  return (client.options.loadedDataConverter?.payloadCodecs ?? []).length > 0;
}
