import { isDeepStrictEqual } from 'node:util';
import type { FlexibleSchema } from 'ai';
import type { AgentSettings } from '../../../agents/index.js';
import { toToolSchema } from '../../../agents/ai-sdk/tool-schema.js';
import type { UserInputMessage } from '../../../protocol/agent-server.js';
import { HelixError } from '../../../protocol/errors.js';
import { LIMITS } from '../../../protocol/limits.js';
import type { Row } from '../../../protocol/rows.js';
import { toStoredJson } from '../../../store/record/stored-json.js';

/** Where the options of a turn are kept: in the metadata of its user's message. */
const KEY = 'callOptions';

/** The options of a turn, for each of its steps. */
export const callOptionsOfTurn: NonNullable<AgentSettings['callOptions']> = ({ messageMetadata }) =>
  (messageMetadata as Record<string, unknown> | undefined)?.[KEY];

/**
 * Options as they are kept, which is as they are given: the schema of the agent makes of them what
 * `prepareCall` gets, in each step.
 *
 * @throws HelixError `validation_error` for what does not fit the schema, or is not JSON
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

/** Messages with the options of the turn that they begin. Pure. */
export function withCallOptions(
  messages: readonly UserInputMessage[],
  options: unknown,
): UserInputMessage[] {
  return messages.map((message) => ({ ...message, metadata: { [KEY]: options } }));
}

/**
 * Programs give the options with answers, too, as the AI SDK demands.
 *
 * @throws HelixError `validation_error` for others than those with which the turn has begun
 */
export function requireSameOptions(turn: readonly Row[], options: unknown): void {
  const begun = turn.find((row) => row.role === 'user')?.metadata?.[KEY];
  if (isDeepStrictEqual(begun, options)) return;
  throw invalid('options are those with which the turn has begun; others need a new message.');
}

/** What comes back from JSON as it was; fields that are undefined are left out. */
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
