import type { Client } from '@temporalio/client';
import type { DataConverter } from '@temporalio/common';
import type { RunsExtension } from './extension.js';

/** True if a client encodes payloads. */
export function hasCodec(client: {
  options: Partial<Pick<Client['options'], 'loadedDataConverter'>>;
}): boolean {
  return (client.options.loadedDataConverter?.payloadCodecs ?? []).length > 0;
}

/** A program's own converter, with the codecs of its extensions. */
export function withCodecs(
  dataConverter: DataConverter | undefined,
  extensions: readonly Pick<RunsExtension, 'payloadCodec'>[] = [],
): DataConverter | undefined {
  const codecs = extensions.flatMap(({ payloadCodec }) => payloadCodec ?? []);
  if (codecs.length === 0) return dataConverter;
  return { ...dataConverter, payloadCodecs: [...codecs, ...(dataConverter?.payloadCodecs ?? [])] };
}
