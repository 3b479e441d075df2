import { z } from 'zod';
import type { CrossOriginHeaders, ProblemShape } from '../../../api/extension.js';
import { HTTP_STATUS, type ErrorCode, type HelixError } from '../../../protocol/errors.js';
import { CompletionProblem } from './protocol.js';

/** Response header: whether the client is to repeat the request automatically. */
export const SHOULD_RETRY = 'x-should-retry';

/** Below this path everything has OpenAI's shapes. */
export const OPENAI_PROBLEMS: ProblemShape = {
  below: '/v1/',
  toBody: toCompletionProblem,
  // Clients of OpenAI repeat a 409 automatically.
  toHeaders: ({ statusCode }): Record<string, string> =>
    statusCode < 500 && statusCode !== 429 ? { [SHOULD_RETRY]: 'false' } : {},
  toSchema: (code) => z.object({ error: CompletionProblem.shape.error.extend({ code }) }),
};

/** The client of OpenAI adds headers to each request in a browser; none of them is needed. */
export const OPENAI_HEADERS: CrossOriginHeaders = {
  allowed: [
    'user-agent',
    'openai-organization',
    'openai-project',
    ...['arch', 'custom-poll-interval', 'helper-method', 'lang', 'os', 'package-version'].map(
      named,
    ),
    ...['poll-helper', 'retry-count', 'runtime', 'runtime-version', 'timeout'].map(named),
  ],
  exposed: [SHOULD_RETRY],
};

function named(name: string): string {
  return `x-stainless-${name}`;
}

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
