import { describe, expect, it } from '@jest/globals';
import { drive, textIn } from '../support/session-driver.js';
import { openTestStores } from '../support/test-stores.js';

describe('append', () => {
  it('numbers entries from 1 without gaps and tells the number of the last one', async () => {
    const stores = await openTestStores();
    const session = drive(stores);
    const { runId } = await session.newRun();
    const writer = session.writer(runId, 1, 1);
    await session.claim(writer);
    expect(await session.say(writer, 1, 'a')).toEqual({
      kind: 'appended',
      sequence: 1,
      stopRequested: false,
    });
    const chunk = (await session.log())[0]?.message;
    if (chunk === undefined) throw new Error('nothing was written');
    const reply = await stores.streamManager.append(writer, 2, [chunk, chunk, chunk]);
    expect(reply).toMatchObject({ sequence: 4 });
    expect((await session.log()).map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4]);
    expect((await session.log()).map((entry) => entry.writer)).toEqual(['m1', 'm1', 'm1', 'm1']);
  });

  it('gives a batch that was seen before its first reply and writes nothing', async () => {
    const session = drive(await openTestStores());
    const { runId } = await session.newRun();
    const writer = session.writer(runId, 1, 1);
    await session.claim(writer);
    const first = await session.say(writer, 1, 'once');
    expect(await session.say(writer, 1, 'once')).toEqual(first);
    await session.say(writer, 2, ', twice');
    expect(await session.say(writer, 2, ', twice')).toMatchObject({ sequence: 2 });
    expect(textIn(await session.log())).toBe('once, twice');
  });

  it('says superseded, even to a repeated batch, once the run was ended elsewhere', async () => {
    const stores = await openTestStores();
    const session = drive(stores);
    const { runId } = await session.newRun();
    const writer = session.writer(runId, 1, 1);
    await session.claim(writer);
    await session.say(writer, 1, 'x');
    await stores.store.end({
      sessionId: session.id,
      runId,
      agentType: 'tester',
      step: 1,
      status: 'interrupted',
      now: 1,
    });
    // The claim went with the run, so all that can be said is: no more.
    expect(await session.say(writer, 1, 'x')).toEqual({ kind: 'superseded' });
    expect(textIn(await session.log())).toBe('x');
  });

  it('is refused without a claim and after the commit', async () => {
    const session = drive(await openTestStores());
    const { runId } = await session.newRun();
    const writer = session.writer(runId, 1, 1);
    expect(await session.say(writer, 1, 'x')).toEqual({ kind: 'fenced' });
    await session.claim(writer);
    await session.commit(writer, { calls: [], final: undefined });
    expect(await session.say(writer, 1, 'x')).toEqual({ kind: 'fenced' });
  });

  it('carries the stop flag', async () => {
    const stores = await openTestStores();
    const session = drive(stores);
    const { runId } = await session.newRun();
    const writer = session.writer(runId, 1, 1);
    await session.claim(writer);
    await stores.store.stop(session.id, { mode: 'interrupt' });
    expect(await session.say(writer, 1, 'x')).toEqual({
      kind: 'appended',
      sequence: 1,
      stopRequested: true,
    });
  });

  it('counts on over turns, also when the stream of the turn before has expired', async () => {
    const stores = await openTestStores();
    const session = drive(stores);
    for (const turn of [0, 1, 2]) {
      const { runId, startSequence } = await session.newRun();
      const writer = session.writer(runId, 1, 1);
      await session.claim(writer);
      const reply = await session.say(writer, 1, 'x');
      expect(reply).toMatchObject({ sequence: startSequence + 1 });
      await session.commit(writer);
      if (turn === 1) await stores.redis.del(`hx:{${session.id}}:stream`);
    }
    const sequences = (await session.log()).map(({ sequence }) => sequence);
    expect(sequences).toEqual([...sequences].sort((a, b) => a - b));
    expect(new Set(sequences).size).toBe(sequences.length);
  });

  it('keeps every character of a chunk', async () => {
    const session = drive(await openTestStores());
    const { runId } = await session.newRun();
    const writer = session.writer(runId, 1, 1);
    await session.claim(writer);
    const text = 'quote " backslash \\ slash / tab \t null \u0000 emoji 👩‍👩‍👧 \u2028 end';
    await session.say(writer, 1, text);
    expect(textIn(await session.log())).toBe(text);
  });
});
