import { randomUUID } from 'node:crypto';
import { sleep } from '../clock.js';
import type { OnEvent } from './chat-client.js';
import { sayRaw } from './raw-chat.js';

/** Until a refused message is sent again. */
const AGAIN_MS = 250;

/**
 * Says something to the lab agent, and the same message again when nobody can be reached, as people
 * do. Resolves when the reply is over; tells how often it was refused.
 */
export async function insist(
  port: number,
  sessionId: string,
  text: string,
  onEvent: OnEvent,
): Promise<number> {
  const id = randomUUID();
  for (let refused = 0; ; refused += 1) {
    try {
      await sayRaw(port, sessionId, text, onEvent, { id });
      return refused;
    } catch (error) {
      if (!(error instanceof Error && error.message.includes(' 503 '))) throw error;
      await sleep(AGAIN_MS);
    }
  }
}
