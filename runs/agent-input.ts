import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { AgentDefinition } from '../agents/index.js';
import { UserInputMessage } from '../protocol/agent-server.js';
import { HelixError } from '../protocol/errors.js';
import { LIMITS } from '../protocol/limits.js';
import type { UserDataPart, UserPart, UserRow } from '../protocol/rows.js';
import type { CustomState } from '../store/contract/documents.js';
import type { UserMessage } from '../store/contract/runs.js';
import { toStoredJson } from '../store/record/stored-json.js';
import { toUserMessage } from '../store/record/user-message.js';
import { refusal } from './refusals.js';

/**
 * The input of a run: a text, a text with the session's new state, or messages. The program, not a
 * visitor, writes it, so files may have any URL that the model's provider accepts.
 */
export type AgentInput =
  string | { message: string; state?: CustomState } | readonly UserInputMessage[];

/** An input as messages and state. @throws HelixError `validation_error`, `message_too_large` */
export function readInput(
  input: AgentInput,
  defaults: { messageId?: string | undefined; metadata?: Record<string, unknown> | undefined },
): { messages: UserMessage[]; state?: CustomState } {
  const { messageId: id, metadata } = defaults;
  // Programs in JavaScript, and those that start workflows, may send anything.
  if (typeof input !== 'string' && (typeof input !== 'object' || (input as unknown) === null)) {
    throw new HelixError('validation_error', 'The message must be a text.');
  }
  if (Array.isArray(input)) {
    return { messages: input.map((message: UserInputMessage) => toMessage(message, metadata)) };
  }
  const { message, state } =
    typeof input === 'string'
      ? { message: input, state: undefined }
      : (input as Exclude<AgentInput, string | readonly UserInputMessage[]>);
  return { messages: [toMessage({ content: message, id }, metadata)], state };
}

function toMessage(input: UserInputMessage, metadata?: Record<string, unknown>): UserMessage {
  const parsed = UserInputMessage.safeParse(input);
  if (!parsed.success) throw invalid('The message', parsed.error);
  const {
    id = randomUUID(),
    content: text = '',
    parts = [],
    metadata: own = metadata,
    providerOptions,
  } = parsed.data;
  const { given, data } = toRowParts(parts);
  const content = given.length > 0 ? given : [{ type: 'text' as const, text }];
  // Models never get the page's own parts.
  if (content.every((part) => part.type === 'text' && part.text === '')) {
    throw new HelixError('validation_error', 'A message needs text or a file.');
  }
  const row: UserRow = {
    role: 'user',
    id,
    parts: content,
    ...(data.length > 0 && { data }),
    metadata: own,
    ...(own?.['hidden'] === true && { hidden: true }),
    ...(providerOptions !== undefined && { providerOptions }),
  };
  if (Buffer.byteLength(JSON.stringify([row.parts, data])) > LIMITS.userMessageBytes) {
    throw refusal('message_too_large', { id });
  }
  return toUserMessage(row);
}

/** Splits off the page's own parts, with their positions among the parts for the model. */
function toRowParts(parts: NonNullable<UserInputMessage['parts']>): {
  given: UserPart[];
  data: UserDataPart[];
} {
  const given: UserPart[] = [];
  const data: UserDataPart[] = [];
  for (const part of parts) {
    if ('data' in part) data.push({ ...part, at: given.length });
    else given.push(part);
  }
  return { given, data };
}

const AnyState = z.record(z.string(), z.unknown());

/** A state in the form that the agent's schema gives it. @throws HelixError `validation_error` */
export function readState(agent: AgentDefinition, state: CustomState): CustomState {
  const parsed = (agent.stateSchema ?? AnyState).safeParse(state);
  if (!parsed.success) throw invalid('The state', parsed.error);
  // The stored state is the JSON form of the state.
  const json = toStoredJson(parsed.data);
  if (Buffer.byteLength(json) > LIMITS.stateBytes) {
    throw new HelixError('validation_error', 'The state is too large.');
  }
  return JSON.parse(json) as CustomState;
}

function invalid(what: string, { issues }: z.ZodError): HelixError {
  const [issue] = issues;
  const path = issue?.path.map(String).join('.') ?? '';
  const at = path === '' ? '' : ` at ${path}`;
  return new HelixError('validation_error', `${what} is not valid${at}: ${issue?.message ?? ''}`);
}
