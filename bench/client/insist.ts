import { randomUUID } from 'node:crypto';
import { sleep } from '../clock.js';
import type { OnEvent } from './chat-client.js';
import { sayRaw } from './raw-chat.js';

/** Until a refused message is sent again. */
const AGAIN_MS = 250;

/**
 * Sends a message to an agent of the lab, and the same one again while no server answers, as people do.
 * Resolves with the number of refusals when the reply is complete.
 */
export async function insist(
  port: number,
  sessionId: string,
  text: string,
  onEvent: OnEvent,
  agent = 'lab',
): Promise<number> {
  const id = randomUUID();
  for (let refused = 0; ; refused += 1) {
    try {
      await sayRaw(port, sessionId, text, onEvent, { id, agent });
      return refused;
    } catch (error) {
      if (!(error instanceof Error && error.message.includes(' 503 '))) throw error;
      await sleep(AGAIN_MS);
    }
  }
}
