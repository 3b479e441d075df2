import { z } from 'zod';
import { LIMITS } from './limits.js';

const base64 = z.base64();

/** A payload of Temporal in the JSON form that its UI and command line exchange with codec servers. */
const JsonPayload = z.object({
  metadata: z.record(z.string(), base64).optional(),
  data: base64.optional(),
});

/**
 * Body and reply of `POST /api/operator/codec/decode` and `…/encode`. Temporal's command line leaves an
 * empty list out, as for a query without arguments.
 */
export const CodecPayloads = z.object({
  payloads: z.array(JsonPayload).max(LIMITS.newMessages).default([]),
});
export type CodecPayloads = z.infer<typeof CodecPayloads>;
