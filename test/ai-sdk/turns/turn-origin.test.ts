import { findTurnOrigin, isBeyond, type TurnOrigin } from '../../../ai-sdk/turns/turn-origin.js';
import type { StreamMessage } from '../../../protocol/chunk.js';
import { createMemoryStores } from '../../../store/memory/index.js';
import { withoutLog } from '../recorded/without-log.js';
import { assistantRow, drive, newCall } from '../../support/session-driver.js';

/** The origin of a turn that begins with this chunk of its model, in a log that has lost some entries. */
async function originOf(chunk: object, lost: number): Promise<TurnOrigin> {
  const stores = createMemoryStores();
  const session = drive(stores);
  const { runId } = await session.newRun({ state: {} });
  const writer = session.writer(runId, 1, 1);
  await session.claim(writer);
  const author = { agentId: session.id, agentType: 'tester', timestamp: 1, step: 1 };
  const first = { ...chunk, ...author } as StreamMessage;
  await stores.streamManager.append(writer, 1, [first]);
  await session.commit(writer, { calls: [] });
  const view = await session.view();
  if (view === undefined) throw new Error('there is no session');
  return findTurnOrigin(withoutLog(stores.streamManager, lost), view);
}

const defaults = {
  type: 'state_patch',
  patches: [{ op: 'add', path: '/a', value: 1 }],
};

it('a replay begins in the log, also when an agent with a state adds its defaults before it speaks', async () => {
  expect(await originOf({ type: 'step_start', stepId: 's' }, 0)).toEqual({ from: 0 });
  expect(await originOf(defaults, 0)).toEqual({ from: 0 });
});

it('a replay begins in the transcript if the beginning of the log is gone', async () => {
  expect(await originOf(defaults, 1)).toMatchObject({ from: 1, stored: { step: 1 } });
});

it('events of unfinished calls are beyond the transcript, and of finished ones not', async () => {
  const stores = createMemoryStores();
  const session = drive(stores);
  await session.commit((await session.claimed()).writer);
  const { runId, messageId, startSequence } = await session.newRun();
  const writer = session.writer(runId, 1, 1);
  await session.claim(writer);
  await session.say(writer, 1, 'hm');
  const calls = [newCall('c1', 'server'), newCall('c2', 'server')];
  await session.commit(writer, { calls, row: { ...assistantRow(writer, calls), messageId } });
  const progress = { type: 'custom', eventName: 'progress', data: 1 };
  const author = { agentId: session.id, agentType: 'tester', timestamp: 1, step: 1 };
  for (const id of ['c1', 'c2']) {
    await session.start(runId, 1, id);
    const event = { ...progress, ...author } as StreamMessage;
    await stores.streamManager.append(session.callWriter(runId, 1, id, 1), 1, [event], 0);
  }
  await session.finishCall(runId, 1, 'c2', 'ok');
  const view = await stores.store.sessions.view(session.id, undefined, 'turn');
  if (view === undefined) throw new Error('there is no session');
  const log = withoutLog(stores.streamManager, startSequence + 1);
  const { from, stored } = await findTurnOrigin(log, view);
  const rest = await log.read(session.id, from, 100);
  const beyond = rest.filter((entry) => stored !== undefined && isBeyond(stored, entry));
  expect(beyond.map((entry) => [entry.writer, entry.message.type])).toEqual([['t:c1', 'custom']]);
});

it.each([
  ['what a later step says', { sequence: 5, message: { type: 'text_delta', step: 2 } }, true],
  ['what a step of the transcript says', { sequence: 9, message: { type: 'x', step: 1 } }, false],
  ['what such a step says later', { sequence: 10, message: { type: 'x', step: 1 } }, true],
  ['a pause before the transcript was read', { sequence: 9, message: { type: 'x' } }, false],
  ['a pause after it was read', { sequence: 10, message: { type: 'x' } }, true],
  [
    'an event of an unfinished call',
    { writer: 't:c1', message: { type: 'custom', step: 1 } },
    true,
  ],
  ['its start', { writer: 't:c1', message: { type: 'tool_start', step: 1 } }, false],
])('whether an entry is beyond the transcript: %s', (_, entry, is) => {
  const stored = { step: 1, asOf: 9, unfinished: new Set(['t:c1']), message: {} as never };
  expect(isBeyond(stored, { sequence: 5, writer: 'm', ...entry } as never)).toBe(is);
});
