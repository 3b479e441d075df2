import { z } from 'zod';
import type { CrossOriginHeaders, ProblemShape } from '../../../api/extension.js';
import { HTTP_STATUS, type ErrorCode, type HelixError } from '../../../protocol/errors.js';
import { CompletionProblem } from './protocol.js';

/** Response header that tells OpenAI clients whether to retry. */
export const SHOULD_RETRY = 'x-should-retry';

/** Error shapes below `/v1`, as OpenAI clients expect them. */
export const OPENAI_PROBLEMS: ProblemShape = {
  below: '/v1/',
  toBody: toCompletionProblem,
  // OpenAI clients retry a 409 by default.
  toHeaders: ({ statusCode }): Record<string, string> =>
    statusCode < 500 && statusCode !== 429 ? { [SHOULD_RETRY]: 'false' } : {},
  toSchema: (code) => z.object({ error: CompletionProblem.shape.error.extend({ code }) }),
};

const STAINLESS =
  'arch custom-poll-interval helper-method lang os package-version poll-helper retry-count runtime runtime-version timeout';

/** Headers that the OpenAI client adds to each request in a browser. The server needs none of them. */
export const OPENAI_HEADERS: CrossOriginHeaders = {
  allowed: [
    'user-agent',
    'openai-organization',
    'openai-project',
    ...STAINLESS.split(' ').map((name) => `x-stainless-${name}`),
  ],
  exposed: [SHOULD_RETRY],
};

export function toCompletionProblem({
  message,
  code,
}: Pick<HelixError, 'message' | 'code'>): CompletionProblem {
  return { error: { message, type: toType(code), param: null, code } };
}

/** Converts a run's failure to OpenAI's shape with the run's code. Pure. */
export function toRunProblem(failure: { message: string; code: string }): CompletionProblem {
  const { message, code } = failure;
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
