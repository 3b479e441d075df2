import type { UIMessage, UIMessagePart, UIToolPart } from './ui-message.js';
import type { UIStreamPart } from './ui-stream-part.js';

/**
 * Form of a client's tool calls: `dynamic` sends the server's tools as `dynamic-tool`, as in store
 * and stream; `static` sends all as `tool-<name>`, whose inputs and outputs TypeScript knows. Calls
 * of pages are always `tool-<name>`: the AI SDK's guides skip dynamic ones in `onToolCall`.
 */
export type ToolParts = 'dynamic' | 'static';

export function toToolParts(header: string | null | undefined): ToolParts {
  return header?.trim().toLowerCase() === 'static' ? 'static' : 'dynamic';
}

/** Removes the `dynamic` flag from an event, for clients with static parts. */
export function toStaticEvent(event: UIStreamPart): object {
  if (!('dynamic' in event)) return event;
  const { dynamic: _, ...rest } = event;
  return rest;
}

/** A call whose type names its tool. */
export type StaticToolPart = Extract<UIToolPart, { type: `tool-${string}` }>;

/** Messages with static calls, as the stream without the flag builds them in a client. */
export type StaticUIMessage = Omit<UIMessage, 'parts'> & {
  parts: (Exclude<UIMessagePart, UIToolPart> | StaticToolPart)[];
};

/**
 * Converts the messages of a snapshot or history page for clients with static parts.
 *
 * @example
 * import { loadUIMessages, toStaticMessages } from 'helix-temporal/ai-sdk';
 * import { createRedisStores } from 'helix-temporal/store-redis';
 *
 * const { store } = createRedisStores({ url: 'redis://localhost:6379', whenAway: 'refuse' });
 * const { messages } = await loadUIMessages(store, 'session-1');
 * console.log(toStaticMessages(messages).flatMap(({ parts }) => parts.map(({ type }) => type)));
 */
export function toStaticMessages(messages: readonly UIMessage[]): StaticUIMessage[] {
  return messages.map((message) => ({ ...message, parts: message.parts.map(toStaticPart) }));
}

function toStaticPart(part: UIMessagePart): StaticUIMessage['parts'][number] {
  if (part.type !== 'dynamic-tool') return part;
  const { type: _, toolName, ...rest } = part;
  return { type: `tool-${toolName}`, ...rest };
}
