import { ok } from 'node:assert/strict';
import fc from 'fast-check';
import type { Row } from '../../../protocol/rows.js';
import { equal, eventually } from '../assertions.js';
import { textIn } from '../fixtures.js';
import { drive } from '../session-driver.js';
import { followLog } from '../stream/collect.js';
import type { Suite } from '../suite.js';
import { sessionEvents } from './session-events.js';
import { liveSession } from './session-life.js';

export function sessionProperties({ describe, it, runs }: Suite): void {
  describe('under any sequence of events from workers, people and clocks', () => {
    it('committed text is stored once, calls have one result and runs end once', async ({
      store,
      streamManager,
    }) => {
      await fc.assert(
        fc.asyncProperty(sessionEvents, async (events) => {
          const session = drive({ store, streamManager });
          const follower = followLog(streamManager, session.id);
          const life = await liveSession(store, session, [
            { do: 'begin' },
            { do: 'claim', token: 1 },
            ...events,
          ]);
          const log = await session.log();
          const text = textIn(log);
          // The text of each committed attempt appears exactly once, in order.
          let from = 0;
          for (const committed of life.committed) {
            const at = text.indexOf(committed, from);
            ok(at >= 0, `"${committed}" in "${text}"`);
            from = at + committed.length;
          }
          const words = text.split(' ').filter((word) => word !== '');
          equal(new Set(words).size, words.length);

          const { asked, answered } = callsOf(await store.sessions.rows(session.id, 0));
          equal(answered, asked);
          ok([...life.executed.values()].every((times) => times === 1));
          // A client's result may replace its timeout; no other result is ever replaced.
          ok([...life.answered.values()].every((times) => times === 1));
          const ends = await session.messages('stream_end');
          equal(ends.length, life.runs.length);
          equal(
            (await store.runs.list(session.id)).map(({ runId }) => runId),
            life.runs,
          );

          await eventually(
            'the follower has come to the end',
            () => follower.entries.at(-1)?.sequence === log.at(-1)?.sequence,
          );
          await follower.stop();
          const standing = new Set(log.map(({ sequence }) => sequence));
          equal(
            follower.entries.filter(({ sequence }) => standing.has(sequence)),
            log,
          );
        }),
        { numRuns: runs },
      );
    });
  });
}

function callsOf(rows: readonly Row[]): { asked: string[]; answered: string[] } {
  return {
    asked: rows.flatMap((row) =>
      row.role === 'assistant'
        ? row.parts.flatMap((part) => (part.type === 'tool-call' ? [part.toolCallId] : []))
        : [],
    ),
    answered: rows.flatMap((row) => (row.role === 'tool' ? [row.toolCallId] : [])),
  };
}
