import { HTTP_STATUS, type ErrorCode, type HelixError } from '../../protocol/errors.js';
import type { CompletionProblem } from '../../protocol/openai.js';

/** Path under which everything has OpenAI's shapes. */
export const OPENAI_ROOT = '/v1';

/** Response header: whether the client is to repeat the request automatically. */
export const SHOULD_RETRY = 'x-should-retry';

/** A refusal as programs for OpenAI read it; `code` is that of this project. Pure. */
export function toCompletionProblem({
  message,
  code,
}: Pick<HelixError, 'message' | 'code'>): CompletionProblem {
  return { error: { message, type: toType(code), param: null, code } };
}

/** A run that failed, with its own code. Pure. */
export function toRunProblem({
  message,
  code,
}: {
  message: string;
  code: string;
}): CompletionProblem {
  return { error: { message, type: 'server_error', param: null, code } };
}

function toType(code: ErrorCode): string {
  const status = HTTP_STATUS[code];
  if (status === 401) return 'authentication_error';
  if (status === 403) return 'permission_error';
  if (status === 402) return 'insufficient_quota';
  if (status === 429) return code === 'quota_exceeded' ? 'insufficient_quota' : 'rate_limit_error';
  return status >= 500 ? 'server_error' : 'invalid_request_error';
}
