import { drive, newCall, textIn } from '../../support/session-driver.js';
import { openSpeaker } from '../../support/speaker.js';
import { startTcpProxy, type TcpProxy } from '../../support/tcp-proxy.js';
import { openStores, sharedRedisUrl } from '../../support/test-stores.js';
import { until } from '../../support/until.js';

let wire: TcpProxy;

beforeAll(async () => {
  wire = await startTcpProxy(Number(new URL(sharedRedisUrl()).port));
});

afterAll(async () => {
  await wire.close();
});

/** Opens the same session through a wire that the test may cut, and directly. */
async function openBoth() {
  const far = await openStores(`redis://127.0.0.1:${String(wire.port)}`);
  const near = await openStores(sharedRedisUrl());
  // The client sends unknown scripts twice, so the server learns them first.
  const author = await openSpeaker(near);
  await author.say('known');
  await author.session.stop();
  const session = drive(near);
  const { runId, writer } = await session.claimed();
  return { session, remote: drive(far, session.id), runId, writer };
}

describe('a wire that is cut between a request and its reply', () => {
  it('a batch whose reply is cut off is sent again and stored once', async () => {
    const { session, remote, writer } = await openBoth();
    const words = Array.from({ length: 12 }, (_, n) => `word-${String(n)} `);
    for (const [n, word] of words.entries()) {
      const isStored = n % 2 === 0;
      const held = wire.holdAt(word, isStored ? 'after' : 'before');
      const written = remote.say(writer, n + 1, word);
      await held;
      if (isStored) {
        await until('it is stored', async () => textIn(await session.log()).includes(word));
      }
      wire.cut();
      expect(await written).toMatchObject({ kind: 'appended', sequence: n + 1 });
    }
    expect(textIn(await session.log())).toBe(words.join(''));
  });

  it('a commit whose reply is cut off is sent again and performed once', async () => {
    const { session, remote, writer } = await openBoth();
    const held = wire.holdAt('run_paused', 'after');
    const committed = remote.commit(writer, { calls: [newCall('cut-here', 'approval')] });
    await held;
    await until('it is stored', async () => (await session.messages('run_paused')).length === 1);
    wire.cut();
    expect(await committed).toMatchObject({ kind: 'committed', paused: true });
    expect(await session.messages('run_paused')).toHaveLength(1);
  });
});
