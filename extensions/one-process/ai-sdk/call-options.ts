import { isDeepStrictEqual } from 'node:util';
import type { FlexibleSchema } from 'ai';
import type { AgentSettings } from '../../../agents/index.js';
import { toToolSchema } from '../../../agents/ai-sdk/tool-schema.js';
import type { UserInputMessage } from '../../../protocol/agent-server.js';
import { HelixError } from '../../../protocol/errors.js';
import { LIMITS } from '../../../protocol/limits.js';
import type { Row } from '../../../protocol/rows.js';
import { toStoredJson } from '../../../store/record/stored-json.js';

/** Key of a turn's call options in the metadata of its user message. */
const KEY = 'callOptions';

/** Reads a turn's call options for each of its steps. */
export const callOptionsOfTurn: NonNullable<AgentSettings['callOptions']> = ({ messageMetadata }) =>
  (messageMetadata as Record<string, unknown> | undefined)?.[KEY];

/**
 * Validates call options and returns them unchanged for storage. The agent's schema transforms them for
 * `prepareCall` in each step.
 *
 * @throws HelixError `validation_error` for options that do not match the schema or are not JSON
 */
export async function toKeptOptions(options: unknown, schema: unknown): Promise<unknown> {
  if (schema !== undefined) {
    const { error } = await toToolSchema(schema as FlexibleSchema).safeParseAsync(options);
    const [issue] = error?.issues ?? [];
    if (issue !== undefined) {
      const at = ['options', ...issue.path].map(String).join('.');
      throw invalid(`${at}: ${issue.message}`);
    }
  }
  const json = toStoredJson(options);
  if (!isJson(options)) throw invalid('options are kept with the conversation: they must be JSON.');
  if (Buffer.byteLength(json) > LIMITS.metadataBytes) throw invalid('options are too large.');
  return JSON.parse(json) as unknown;
}

/** Adds the turn's call options to the messages that begin it. Pure. */
export function withCallOptions(
  messages: readonly UserInputMessage[],
  options: unknown,
): UserInputMessage[] {
  return messages.map((message) => ({ ...message, metadata: { [KEY]: options } }));
}

/**
 * Requires that options given with answers, as the AI SDK demands, equal those of the turn.
 *
 * @throws HelixError `validation_error` for options that differ from the turn's
 */
export function requireSameOptions(turn: readonly Row[], options: unknown): void {
  const begun = turn.find((row) => row.role === 'user')?.metadata?.[KEY];
  if (isDeepStrictEqual(begun, options)) return;
  throw invalid('options are those with which the turn has begun; others need a new message.');
}

/** Returns true for a value that survives JSON unchanged, apart from undefined fields. */
function isJson(value: unknown): boolean {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return true;
  if (typeof value === 'number') return Number.isFinite(value);
  if (Array.isArray(value)) return value.every(isJson);
  if (typeof value !== 'object') return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  const isPlain = prototype === null || Object.getPrototypeOf(prototype) === null;
  return isPlain && Object.values(value).every((each) => each === undefined || isJson(each));
}

function invalid(message: string): HelixError {
  return new HelixError('validation_error', message);
}
