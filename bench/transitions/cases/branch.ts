import type { Driver } from '../driver.js';
import { AGENT, messageOf, OWNER, replyRow, type Scene } from '../inputs.js';

/** Makes a session out of the rows of so many turns of another one, a question and a reply each. */
export async function branch(driver: Driver, scene: Scene, turns: number): Promise<void> {
  const questions = Array.from({ length: turns }, (_, turn) => messageOf(`u-${String(turn)}`));
  const rows = questions.flatMap(({ row }, turn) => [
    row,
    replyRow({ ...scene, messageId: `msg-${String(turn)}` }, 1, []),
  ]);
  const newest = { turn: turns, row: rows.length - 2, step: 1, hasReplied: true };
  const input = {
    ...{ sessionId: scene.sessionId, agent: AGENT, owner: OWNER, nonce: 'branch', rows },
    messages: questions.map(({ id, hash }) => ({ id, hash })),
    turn: { ...newest, messageId: `msg-${String(turns - 1)}` },
    visibleMessages: rows.length,
    now: Date.now(),
  };
  const { kind } = await driver.found(input);
  if (kind === 'exists') throw new Error('there is such a session');
}
