import { HelixError } from '../../protocol/errors.js';
import { z } from 'zod';
import { LIMITS } from '../../protocol/limits.js';
import type { PayloadCodec } from '@temporalio/common';
import {
  defineRoute,
  inJson,
  requireNoTenant,
  type About,
  type Route,
} from '../../api/extension.js';

const base64 = z.base64();

/** A payload in the JSON form that Temporal's UI and command line exchange with codec servers. */
const JsonPayload = z.object({
  metadata: z.record(z.string(), base64).optional(),
  data: base64.optional(),
});

/**
 * Body and reply of `POST /api/operator/codec/decode` and `…/encode`. Temporal's command line omits an
 * empty list, for example for a query without arguments.
 */
export const CodecPayloads = z.object({
  payloads: z.array(JsonPayload).max(LIMITS.newMessages).default([]),
});
export type CodecPayloads = z.infer<typeof CodecPayloads>;

type Payload = Parameters<PayloadCodec['decode']>[0][number];

const codecRoute = (
  payloadCodec: PayloadCodec | undefined,
  act: 'decode' | 'encode',
  summary: string,
): Route =>
  defineRoute({
    method: 'post',
    path: `/api/operator/codec/${act}`,
    id: `${act}Payloads`,
    audits: act === 'decode' ? 'read' : 'none',
    summary,
    body: CodecPayloads,
    replies: inJson(200, 'The payloads.', CodecPayloads),
    refusals: ['not_allowed', 'not_found'],
    about: async ({ deps, caller }): Promise<About & { codec: PayloadCodec }> => {
      await requireNoTenant(deps, caller, 'The codec is');
      if (payloadCodec === undefined) throw new HelixError('not_found', 'There is no codec here.');
      return { codec: payloadCodec };
    },
    handle: async ({ response, body: { payloads }, about: { codec } }) => {
      let changed: Payload[];
      try {
        changed = await codec[act](payloads.map(toPayload));
      } catch (error) {
        const text =
          'A payload cannot be read: its key is not among TEMPORAL_CODEC_KEYS, or it was changed.';
        throw new HelixError('validation_error', text, { cause: error });
      }
      const reply = { payloads: changed.map(toJson) } satisfies CodecPayloads;
      response.json(reply);
    },
  });

/**
 * Serves as codec server of Temporal's UI and command line under `<this API>/api/operator/codec`. Histories
 * mix all tenants, so a role within one tenant does not suffice.
 */
export const toCodecRoutes = (codec: PayloadCodec | undefined): readonly Route[] => [
  codecRoute(codec, 'decode', 'Decrypt payloads of Temporal, as its UI asks a codec server'),
  codecRoute(codec, 'encode', 'Encrypt payloads of Temporal, as its UI asks a codec server'),
];

function toPayload({ metadata, data }: CodecPayloads['payloads'][number]): Payload {
  const entries = Object.entries(metadata ?? {}).map(
    ([name, value]) => [name, Buffer.from(value, 'base64')] as const,
  );
  return {
    metadata: Object.fromEntries(entries),
    data: data === undefined ? undefined : Buffer.from(data, 'base64'),
  };
}

function toJson({ metadata, data }: Payload): CodecPayloads['payloads'][number] {
  const entries = Object.entries(metadata ?? {}).map(
    ([name, value]) => [name, Buffer.from(value).toString('base64')] as const,
  );
  return {
    metadata: Object.fromEntries(entries),
    data: data == null ? undefined : Buffer.from(data).toString('base64'),
  };
}
