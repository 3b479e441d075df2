import {
  APICallError,
  EmptyResponseBodyError,
  InvalidPromptError,
  InvalidResponseDataError,
  JSONParseError,
  LoadAPIKeyError,
  LoadSettingError,
  NoContentGeneratedError,
  NoSuchModelError,
  TypeValidationError,
  UnsupportedFunctionalityError,
} from '@ai-sdk/provider';
import { ModelConfigurationError } from '../../agents/model-spec.js';
import { HelixError } from '../../protocol/errors.js';
import { startOf } from '../../protocol/limits.js';
import type { RunError } from '../../protocol/run.js';

export interface ProviderFailure extends RunError {
  /** Wait that the provider asked for, ms. */
  retryAfterMs?: number;
  /** Code of the newest failure, if this one summarises several models'. */
  newest?: string;
}

type Code = keyof typeof FAILURES;

/** Failures of a request: texts that are safe to show, and whether a retry may succeed. */
const FAILURES = {
  provider_error: ['The model provider failed.', true],
  provider_rate_limited: ['The model provider is limiting requests.', true],
  provider_overloaded: ['The model provider is overloaded.', true],
  provider_bad_reply: ['The reply of the model could not be read.', true],
  provider_bad_stream: ['The reply of the model contradicts itself.', false],
  /** The model's stream ended without a finish part, or its package says so. */
  provider_stream_cut: ['The model broke off its reply.', true],
  provider_unauthorized: ['The model provider refused the key.', false],
  provider_quota_exhausted: ["The model provider's quota is used up.", false],
  provider_unknown_model: ['The model provider does not know the model.', false],
  provider_settings_refused: ['The model does not take a setting of its agent.', false],
  provider_invalid_request: ['The model provider refused the request.', false],
  model_stalled: ['The model went silent.', true],
  model_too_slow: ['The model took too long.', true],
  model_request_failed: ['The request to the model could not be made.', false],
  model_not_configured: [
    'The model is not set up: its name, a key, an address or a package is missing.',
    false,
  ],
  /** The provider's package cannot express a part of the prompt. */
  prompt_not_taken: ['The model does not take something in this conversation.', false],
  prompt_name_refused: ['The model does not take the name of a tool that was called.', false],
  prompt_too_long: ['The conversation is too long for the model.', false],
  prompt_order_refused: [
    'The model does not take the messages of this conversation in their order.',
    false,
  ],
  prompt_file_refused: ['The model does not take a file of this conversation.', false],
  files_unavailable: ['The files of this conversation cannot be read.', true],
  /** The agent's own code threw, hung, or left an empty prompt. */
  context_hook_failed: ['The agent could not prepare its conversation.', false],
} as const satisfies Record<string, readonly [message: string, retryable: boolean]>;

function failure(code: Code): ProviderFailure {
  const [message, retryable] = FAILURES[code];
  return { code, message, retryable };
}

function unreachable(): ProviderFailure {
  return { ...failure('provider_error'), message: 'The model could not be reached.' };
}

/** Returns true for failures that the prompt caused; the next prompt omits its new parts. */
export function isOfPrompt(code: string): boolean {
  return code.startsWith('prompt_') || code === 'provider_invalid_request';
}

/** A failed request whose failure the thrower knows. */
export class RequestFault extends Error {
  override readonly name = 'RequestFault';
  readonly failure: ProviderFailure;

  constructor(code: Code, options?: ErrorOptions) {
    super(FAILURES[code][0], options);
    this.failure = failure(code);
  }
}

/**
 * Classifies a provider's error; no other code does. The error itself goes to the log.
 *
 * @param isReplying true if the model had begun to reply
 */
export function toProviderFailure(error: unknown, isReplying = false): ProviderFailure {
  const refusal = toRefusal(error);
  if (refusal !== undefined) return fromRefusal(refusal);
  if (isOf(UNREADABLE_REPLY, error)) return failure('provider_bad_reply');
  if (error instanceof RequestFault) return error.failure;
  if (error instanceof ModelConfigurationError || isOf(UNCONFIGURED, error)) {
    return failure('model_not_configured');
  }
  // This is no provider error, but for example a store outage.
  if (HelixError.isInstance(error)) {
    return { code: error.code, message: error.message, retryable: error.code === 'unavailable' };
  }
  if (isNetwork(error)) return unreachable();
  // Errors within a stream are often plain objects or texts. The provider had accepted the request,
  // so a retry is right.
  if (!(error instanceof Error)) return failure('provider_error');
  if (!isReplying) return failure('model_request_failed');
  // `@ai-sdk/openai-compatible` throws this; other packages say so in the finish part.
  if (error.message.includes('ended without a finish reason'))
    return failure('provider_stream_cut');
  return InvalidResponseDataError.isInstance(error) || error instanceof TypeError
    ? failure('provider_bad_stream')
    : { ...failure('provider_error'), retryable: false };
}

/** Converts errors of a provider's package about an unsupported prompt to a RequestFault. */
export function toRequestFault(error: unknown): unknown {
  const isOfPackage =
    isOf(UNSUPPORTED, error) ||
    (error instanceof Error && /^(ZodError|AI_NoSuchProviderReferenceError)$/.test(error.name));
  if (!isOfPackage) return error;
  const code = codeOf(String(error));
  return new RequestFault(code === 'provider_invalid_request' ? 'prompt_not_taken' : code, {
    cause: error,
  });
}

/** A refused request, from any client. */
interface Refusal {
  status: number | undefined;
  headers?: Record<string, string> | undefined;
  /** The provider's response body. */
  body: string;
  /** The error's text, without the request. */
  words: string;
}

/** Marks AI Gateway errors, which are no APICallErrors; their own check reads this mark too. */
const OF_GATEWAY = Symbol.for('vercel.ai.gateway.error');

function toRefusal(error: unknown): Refusal | undefined {
  if (APICallError.isInstance(error)) {
    const { statusCode: status, responseHeaders: headers, responseBody: body = '' } = error;
    return { status, headers, body, words: `${error.message}\n${body}` };
  }
  if (!(error instanceof Error)) return toStreamRefusal(error);
  if (!(OF_GATEWAY in error)) return undefined;
  const { statusCode, type, cause } = error as Error & { statusCode?: unknown; type?: unknown };
  const below = APICallError.isInstance(cause) ? cause : undefined;
  const body = below?.responseBody ?? '';
  return {
    status: typeof statusCode === 'number' ? statusCode : undefined,
    headers: below?.responseHeaders,
    body,
    words: `${String(type)}: ${error.message}\n${body}`,
  };
}

/** Statuses for the `type` of error objects from Anthropic and OpenAI. */
const STATUS_OF_TYPE: Record<string, number> = {
  invalid_request_error: 400,
  request_too_large: 413,
  authentication_error: 401,
  permission_error: 403,
  not_found_error: 404,
  insufficient_quota: 402,
};

/** Reads an error object in a stream: it, or one inside it, has a status code or a known type. */
function toStreamRefusal(error: unknown): Refusal | undefined {
  if (typeof error !== 'object' || error === null || error instanceof Error) return undefined;
  const { statusCode, type, error: inner } = error as Record<string, unknown>;
  const status = typeof statusCode === 'number' ? statusCode : STATUS_OF_TYPE[String(type)];
  if (status === undefined) return toStreamRefusal(inner);
  const body = describe(error);
  return { status, body, words: body };
}

function fromRefusal(refusal: Refusal): ProviderFailure {
  const { status, headers, words } = refusal;
  if (isOfQuota(refusal)) return failure('provider_quota_exhausted');
  if (status === 401 || status === 403 || (status === 400 && OF_KEY.test(words))) {
    return failure('provider_unauthorized');
  }
  const advice = headers?.['x-should-retry'];
  const passes = mayPass(status);
  const retryable = advice === 'true' || (advice !== 'false' && passes);
  if (!retryable && !passes) {
    return failure(codeOf(status === 413 ? 'request_too_large' : words, status));
  }
  const retryAfterMs = parseRetryAfter(headers, Date.now());
  return {
    ...(status === undefined ? unreachable() : failure(codeOfStatus(status))),
    retryable,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  };
}

function isOfQuota({ status, body, words }: Refusal): boolean {
  if (status === 429) return body.includes('"insufficient_quota"');
  return status === 402 || (status === 400 && OF_ACCOUNT.test(words));
}

/** Returns the code of a failure that may pass. */
function codeOfStatus(status: number): Code {
  if (status === 429) return 'provider_rate_limited';
  if (status === 503 || status === 529) return 'provider_overloaded';
  return status < 300 ? 'provider_bad_reply' : 'provider_error';
}

/** Returns true if a retry may succeed: the request was accepted, got no answer, or met a limit. */
function mayPass(status: number | undefined): boolean {
  if (status === undefined || status < 400 || status >= 500) return true;
  return status === 408 || status === 409 || status === 429;
}

/** Texts of 400 responses about an account or a key, which do not concern the conversation. */
const OF_ACCOUNT = /credit balance|insufficient (credits?|funds|balance)|billing/i;
const OF_KEY = /api[ _]?key (is )?(not valid|invalid|expired)|invalid api[ _]?key/i;

/** Texts about the agent's settings, which do not concern the conversation. */
const OF_SETTINGS =
  /\b(max_(output_|completion_)?tokens|temperature|top_[pk]|budget_tokens|reasoning[._]effort|response_format)\b|unsupported (parameter|value)|invalid schema/i;

/** Providers' texts about a prompt; the first match counts. */
const OF_PROMPT: readonly [says: RegExp, code: Code][] = [
  [
    /(name|call_id)\b.{0,80}(pattern|match|too long|at most)|invalid (function|tool)[ _]name/is,
    'prompt_name_refused',
  ],
  [
    /too[ _](long|large|many (input |total |prompt )?tokens)|context[ _](length|limit|window|size)|prompt length|token (count|limit).*exceeds|exceeds? the (maximum|limit|max).*(tokens|length)|reduce the length|string_above_max_length/i,
    'prompt_too_long',
  ],
  [
    /prefill|(must|should|to) (end|start|begin|alternate|immediately follow)|roles? must|tool_(use|result|call)s?\b.*(without|must|immediately)|no tool (output|call) found|function (call|response) (turn|part)|item .*(not found|without its required)|must be a response to|(thinking|signature|reasoning)\b.*\b(blocks?|invalid|expected|cannot|may not|only be provided)\b/is,
    'prompt_order_refused',
  ],
  [
    /media[ _-]?type|mime[ _-]?type|\b(image|picture|audio|video|pdf|document)s?\b|file (part|type|data|format|url|uri)|file_?(data|uri|url)|inline_?data|provider ?reference/i,
    'prompt_file_refused',
  ],
];

/** Returns the code of a request that is refused for good. */
function codeOf(words: string, status?: number): Code {
  if (OF_SETTINGS.test(words) && !/context[ _](length|limit|window)/i.test(words)) {
    return 'provider_settings_refused';
  }
  if (status === 404 && /\bmodels?\b|model_/i.test(words)) return 'provider_unknown_model';
  return OF_PROMPT.find(([says]) => says.test(words))?.[1] ?? 'provider_invalid_request';
}

/** Errors of the AI SDK; several of its versions may be loaded. */
type SdkErrors = readonly { isInstance: (error: unknown) => boolean }[];

const UNSUPPORTED: SdkErrors = [
  UnsupportedFunctionalityError,
  TypeValidationError,
  InvalidPromptError,
];
const UNREADABLE_REPLY: SdkErrors = [
  JSONParseError,
  TypeValidationError,
  EmptyResponseBodyError,
  NoContentGeneratedError,
];
const UNCONFIGURED: SdkErrors = [LoadAPIKeyError, LoadSettingError, NoSuchModelError];

function isOf(kinds: SdkErrors, error: unknown): boolean {
  return kinds.some((kind) => kind.isInstance(error));
}

/** Codes of the system, of Node's client, and of TLS; excludes `ENOENT` and `ERR_INVALID_URL`. */
const OF_NETWORK =
  /^(E(CONN|HOST|NET|TIMEDOUT|PIPE|AI_|NOTFOUND|PROTO|ADDR)|UND_ERR|ERR_(TLS|SSL|SOCKET|HTTP2|STREAM)|CERT_|UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO)/;

/** Recognizes network errors; fetch throws a TypeError for them, as programming faults do. */
function isNetwork(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { name, message, cause } = error;
  if ('code' in error && OF_NETWORK.test(String(error.code))) return true;
  if (name === 'TimeoutError' || name === 'AbortError') return true;
  if (error instanceof TypeError && /fetch|network|load failed|terminated/i.test(message))
    return true;
  return isNetwork(cause);
}

const MAX_TEXT = 2_000;

/**
 * Prepares a provider's error for the log: bounded, and without the request, which holds the whole
 * conversation and may hold a key.
 */
export function toLoggedError(error: unknown): object {
  if (!(error instanceof Error)) return { value: cut(describe(error)) };
  const { name, message, stack, cause } = error;
  return {
    name,
    message: cut(message),
    stack: cut(stack ?? ''),
    ...(APICallError.isInstance(error) && {
      statusCode: error.statusCode,
      responseBody: cut(error.responseBody ?? ''),
    }),
    ...('code' in error && { code: cut(String(error.code)) }),
    ...(cause instanceof Error && { cause: cut(`${cause.name}: ${cause.message}`) }),
  };
}

function describe(value: unknown): string {
  try {
    // A library may throw undefined, which has no JSON.
    const json = JSON.stringify(value) as string | undefined;
    return json ?? String(value);
  } catch {
    return String(value);
  }
}

function cut(text: string): string {
  return text.length > MAX_TEXT ? `${startOf(text, MAX_TEXT)}…` : text;
}

/** Reads `retry-after-ms`, or `retry-after` in seconds or as a date; ms from now. */
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
