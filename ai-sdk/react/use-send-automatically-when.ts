import { useRef } from 'react';
import {
  createHelixSendAutomaticallyWhen,
  type SendAutomaticallyWhen,
} from '../client/send-automatically.js';

/**
 * A `sendAutomaticallyWhen` for `useChat` that stays the same as long as the session does.
 *
 * @example
 * import { useChat } from '@ai-sdk/react';
 * import { useHelixSendAutomaticallyWhen } from 'helix-temporal/ai-sdk/react';
 *
 * export function Chat({ id }: { id: string }) {
 *   const { messages } = useChat({ id, sendAutomaticallyWhen: useHelixSendAutomaticallyWhen(id) });
 *   return <p>{messages.length} messages</p>;
 * }
 */
export function useHelixSendAutomaticallyWhen(sessionId?: string): SendAutomaticallyWhen {
  const held = useRef<{ sessionId: string | undefined; when: SendAutomaticallyWhen } | undefined>(
    undefined,
  );
  // React may drop a memo at any time, and which answers were sent would be lost with it.
  if (held.current === undefined || held.current.sessionId !== sessionId) {
    held.current = { sessionId, when: createHelixSendAutomaticallyWhen() };
  }
  return held.current.when;
}
