import { APICallError } from '@ai-sdk/provider';
import type { ReplyFailure } from './reply.js';

/** Stands where a provider's errors have the address of its endpoint. */
const URL = 'scripted:';

/**
 * The error a provider's SDK would raise for the status: retryable for 408, 409, 429 and 5xx, with
 * the wait in the header `retry-after-ms`.
 */
export function toProviderFailure({ status, retryAfterMs }: ReplyFailure): APICallError {
  return new APICallError({
    message: `The scripted model failed with status ${String(status)}.`,
    url: URL,
    requestBodyValues: {},
    statusCode: status,
    ...(retryAfterMs !== undefined && {
      responseHeaders: { 'retry-after-ms': String(retryAfterMs) },
    }),
  });
}

/** The error for a script that cannot be performed: status 400, and no retry would help. */
export function toInvalidScript(fault: string): APICallError {
  return new APICallError({
    message: `Invalid script: ${fault}`,
    url: URL,
    requestBodyValues: {},
    statusCode: 400,
    isRetryable: false,
  });
}
