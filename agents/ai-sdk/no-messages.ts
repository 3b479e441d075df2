import type { ModelMessage } from 'ai';
import { ToolError } from '../tool-error.js';

function refuse(): never {
  throw new ToolError(
    'messages_unavailable',
    'The messages of the conversation cannot be read in execute: let the model pass what the tool needs in its input, keep it in the state (toolContextOf(options).getState()), or decide by the messages in needsApproval.',
  );
}

/**
 * In place of the messages that `execute` gets in the AI SDK: a call may be executed long after the model
 * made it, and an empty list would be taken for a conversation without messages. May be passed on; any
 * use throws.
 */
export const NO_MESSAGES: ModelMessage[] = new Proxy<ModelMessage[]>([], {
  get: refuse,
  set: refuse,
  has: refuse,
  ownKeys: refuse,
  getOwnPropertyDescriptor: refuse,
});
