import { rootOf } from '../../protocol/ids.js';

/**
 * Does work for conversations in the background, for each at most once at a time: what is asked for
 * meanwhile is done behind it, once. It begins in a later turn of the event loop, behind what the caller
 * does next: the signal of an answer does not wait for it.
 *
 * @param work of a conversation, by its id
 * @param onError gets what the work throws; what was asked for meanwhile is left out then
 */
export function oneAtATime(
  work: (sessionId: string) => Promise<void>,
  onError: (error: unknown, sessionId: string) => void,
): (sessionId: string) => void {
  const underWay = new Map<string, { asked: number }>();

  async function run(sessionId: string, state: { asked: number }): Promise<void> {
    try {
      let done: number;
      do {
        done = state.asked;
        await work(sessionId);
      } while (done !== state.asked);
    } catch (error) {
      onError(error, sessionId);
    } finally {
      underWay.delete(sessionId);
    }
  }

  return (changed) => {
    const sessionId = rootOf(changed);
    const running = underWay.get(sessionId);
    if (running !== undefined) {
      running.asked += 1;
      return;
    }
    const state = { asked: 0 };
    underWay.set(sessionId, state);
    setImmediate(() => void run(sessionId, state));
  };
}
