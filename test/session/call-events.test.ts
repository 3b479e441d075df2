import type { StreamChunk } from '../../protocol/chunk.js';
import { equal, includes } from '../../store/conformance/assertions.js';
import { AGENT, server } from '../../store/conformance/fixtures.js';
import { it } from './rules.js';

/** Events that calls emit in addition to their results. */
describe('events of a call', () => {
  const event = (agentId: string, data: unknown, extra: object = {}): StreamChunk => ({
    type: 'custom',
    agentId,
    agentType: AGENT,
    step: 1,
    timestamp: 1,
    ...extra,
    eventName: 'progress',
    data,
  });

  it("events are kept in the call's row with their positions, except transient ones", async (setup) => {
    const { streamManager, session } = setup;
    const { runId } = await session.asked(server('s'), server('t'));
    await session.start(runId, 1, 's', 1);
    await session.start(runId, 1, 't', 1);
    const [s, t] = ['s', 't'].map((id) => session.callWriter(runId, 1, id, 1));
    if (s === undefined || t === undefined) throw new Error('unreachable');
    // An empty list and a fraction must come back unchanged.
    await streamManager.append(s, 1, [event(session.id, { of: [], part: 0.1 })], 0);
    await streamManager.append(t, 1, [event(session.id, 't')], 0);
    await streamManager.append(s, 2, [event(session.id, 'seen', { transient: true })], 0);
    await streamManager.append(s, 3, [event(session.id, null)], 0);
    const entries = await streamManager.read(session.id, 0, 100);
    const sequences = entries.flatMap(({ sequence, writer, message }) =>
      message.type === 'custom' && writer === 't:s' && message.transient !== true ? [sequence] : [],
    );
    await session.finishCall(runId, 1, 's', 'done', 1, { hasEvents: true });
    await session.finishCall(runId, 1, 't', 'done', 1);
    await session.claim(session.writer(runId, 2, 1));
    const rows = await session.rows(2);
    includes(rows, [
      {
        toolCallId: 's',
        output: 'done',
        events: [
          {
            sequence: sequences[0],
            chunk: { eventName: 'progress', data: { of: [], part: 0.1 } },
          },
          { sequence: sequences[1], chunk: { eventName: 'progress', data: null } },
        ],
      },
      { toolCallId: 't', output: 'done' },
    ]);
    equal(rows[1] !== undefined && 'events' in rows[1], false);
  });

  it('events of a withdrawn attempt are not kept', async ({ streamManager, session }) => {
    const { runId } = await session.asked(server('s', { idempotent: true }));
    for (const token of [1, 2]) {
      await session.start(runId, 1, 's', token);
      const writer = session.callWriter(runId, 1, 's', token);
      await streamManager.append(writer, 1, [event(session.id, token)], 0);
    }
    await session.finishCall(runId, 1, 's', 'done', 2, { hasEvents: true });
    await session.claim(session.writer(runId, 2, 1));
    const [row] = await session.rows(2);
    equal(row?.role === 'tool' && row.events?.map(({ chunk }) => chunk.data), [2]);
  });

  it('events are kept if the outcome is unknown, and if the run is ended meanwhile', async (setup) => {
    const { store, streamManager, session } = setup;
    const { runId } = await session.asked(server('s'), server('t'), server('h'));
    for (const id of ['s', 't', 'h']) {
      await session.start(runId, 1, id, 1);
      const writer = session.callWriter(runId, 1, id, 1);
      await streamManager.append(writer, 1, [event(session.id, id)], 0);
    }
    await session.start(runId, 1, 's', 2);
    // It waits for its webhook.
    const writer = session.callWriter(runId, 1, 'h', 1);
    await store.calls.suspend({ writer, toolCallId: 'h', now: 1 });
    await session.end(runId, 'failed');
    const rows = await session.rows(2);
    equal(
      rows.map((row) => row.role === 'tool' && row.events?.map(({ chunk }) => chunk.data)),
      [['s'], ['t'], ['h']],
    );
  });
});
