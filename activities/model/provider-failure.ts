import { APICallError } from '@ai-sdk/provider';
import { ContextHookError } from './prepare-messages.js';
import type { RunError } from '../../protocol/run.js';

export interface ProviderFailure extends RunError {
  /** When the provider said when to come back, ms. */
  retryAfterMs?: number;
}

/** The model's stream ended without saying that it is done. */
export class StreamCutError extends Error {
  override readonly name = 'StreamCutError';

  constructor() {
    super('the model stream ended without a finish part');
  }
}

/** The model has said nothing for too long. */
export class ModelStalledError extends Error {
  override readonly name = 'ModelStalledError';

  constructor() {
    super('the model said nothing for too long');
  }
}

/**
 * The one place that decides what a provider's error means. Texts are safe to show; the error
 * itself goes to the log.
 */
export function toProviderFailure(error: unknown): ProviderFailure {
  if (APICallError.isInstance(error)) return fromApiCall(error);
  if (error instanceof StreamCutError) {
    return {
      code: 'provider_stream_cut',
      message: 'The model broke off its reply.',
      retryable: true,
    };
  }
  if (error instanceof ModelStalledError) {
    return { code: 'model_stalled', message: 'The model went silent.', retryable: true };
  }
  if (error instanceof ContextHookError) {
    return {
      code: 'context_hook_failed',
      message: 'The agent could not prepare its conversation.',
      retryable: false,
    };
  }
  // Network trouble comes as TypeError from fetch, or as a system error with a code.
  return {
    code: 'provider_error',
    message: 'The model could not be reached.',
    // Errors that come in the middle of a stream are often plain objects or texts: the provider
    // had accepted the request, so asking again is right unless it says that the request is wrong.
    retryable: error instanceof Error ? isNetwork(error) : !isRequestFault(error),
  };
}

function fromApiCall(error: APICallError): ProviderFailure {
  const retryAfterMs = parseRetryAfter(error.responseHeaders, Date.now());
  const wait = retryAfterMs === undefined ? {} : { retryAfterMs };
  const status = error.statusCode;
  if (status === 429) {
    return {
      code: 'provider_rate_limited',
      message: 'The model provider is limiting requests.',
      retryable: true,
      ...wait,
    };
  }
  if (status === 503 || status === 529) {
    return {
      code: 'provider_overloaded',
      message: 'The model provider is overloaded.',
      retryable: true,
      ...wait,
    };
  }
  if (status === 401 || status === 403) {
    return {
      code: 'provider_unauthorized',
      message: 'The model provider refused the key.',
      retryable: false,
    };
  }
  const retryable = status === undefined || status === 408 || status === 409 || status >= 500;
  return retryable
    ? { code: 'provider_error', message: 'The model provider failed.', retryable, ...wait }
    : {
        code: 'provider_invalid_request',
        message: 'The model provider refused the request.',
        retryable,
      };
}

/** `type` of an error object as Anthropic and OpenAI send it. */
function isRequestFault(error: unknown): boolean {
  const type: unknown =
    typeof error === 'object' && error !== null && 'type' in error ? error.type : '';
  return /^(invalid_request|authentication|permission|not_found)_error$/.test(String(type));
}

function isNetwork(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof TypeError || 'code' in error) return true;
  return isNetwork(error.cause);
}

/** `retry-after-ms`, or `retry-after` in seconds or as a date; ms from now. */
export function parseRetryAfter(
  headers: Record<string, string> | undefined,
  now: number,
): number | undefined {
  const ms = Number(headers?.['retry-after-ms'] ?? Number.NaN);
  if (Number.isFinite(ms) && ms >= 0) return ms;
  const after = headers?.['retry-after'];
  if (after === undefined) return undefined;
  const seconds = Number(after);
  if (Number.isFinite(seconds) && seconds >= 0) return seconds * 1000;
  const date = Date.parse(after);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

const LONGEST_WAIT_MS = 60_000;

/** How long to wait before try `failures + 1`, ms. */
export function retryDelay(failures: number, retryAfterMs: number | undefined): number {
  return Math.min(retryAfterMs ?? 250 * 2 ** (failures - 1), LONGEST_WAIT_MS);
}
