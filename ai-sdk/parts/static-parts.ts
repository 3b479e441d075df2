import type { UIMessage, UIMessagePart, UIToolPart } from './ui-message.js';
import type { UIStreamPart } from './ui-stream-part.js';

/**
 * Whether a client gets calls of the server's tools as `dynamic-tool` parts, or all calls as parts
 * `tool-<name>`, whose inputs and outputs TypeScript knows. The store and the stream have the first;
 * readers are given either. Calls that pages carry out are `tool-<name>` for all: the AI SDK's guides
 * pass over dynamic ones in `onToolCall`.
 */
export type ToolParts = 'dynamic' | 'static';

/** The parts that a request asks for. */
export function toToolParts(header: string | null | undefined): ToolParts {
  return header?.trim().toLowerCase() === 'static' ? 'static' : 'dynamic';
}

/** An event of the stream for clients with static parts: no event of a call has the flag. */
export function toStaticEvent(event: UIStreamPart): object {
  if (!('dynamic' in event)) return event;
  const { dynamic: _, ...rest } = event;
  return rest;
}

/** A call under the name of its tool. */
export type StaticToolPart = Extract<UIToolPart, { type: `tool-${string}` }>;

/** Messages whose calls are static parts, as the stream without the flag leaves them in a client. */
export type StaticUIMessage = Omit<UIMessage, 'parts'> & {
  parts: (Exclude<UIMessagePart, UIToolPart> | StaticToolPart)[];
};

/**
 * The messages of a snapshot or of a page of history, for clients with static parts.
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
