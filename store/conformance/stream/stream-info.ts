import { equal, includes, refuses } from '../assertions.js';
import { AGENT, textChunk, textOf } from '../fixtures.js';
import type { Suite } from '../suite.js';

export function streamInfoCases({ describe, it }: Suite): void {
  describe('stream info and getters', () => {
    it('a stream that does not exist has no info', async ({ streamManager, streamId }) => {
      equal(await streamManager.getStreamInfo(streamId), null);
      equal(await streamManager.inspect(streamId), undefined);
      equal(await streamManager.getAllChunks(streamId), []);
      equal(await streamManager.getChunksFromStep(streamId, 1), []);
      equal(await streamManager.getChunksFromSequence(streamId, 0), []);
    });

    it('chunks are counted, control messages are not', async ({ streamManager, streamId }) => {
      const writer = await streamManager.createWriter(streamId, 'a', AGENT);
      equal(await streamManager.getStreamInfo(streamId), {
        status: 'active',
        totalChunks: 0,
        latestSequence: 0,
      });
      await writer.write(textChunk('a'));
      await streamManager.pauseStream(streamId);
      equal(await streamManager.getStreamInfo(streamId), {
        status: 'paused',
        totalChunks: 1,
        latestSequence: 2,
      });
      await streamManager.resumeStream(streamId);
      await writer.write(textChunk('b', 2));
      await streamManager.cleanupToStep(streamId, 1);
      await streamManager.failStream(streamId, 'why');
      includes(await streamManager.getStreamInfo(streamId), {
        status: 'failed',
        totalChunks: 1,
        error: 'why',
      });
      equal(textOf(await streamManager.getAllChunks(streamId)), 'a');
    });

    it('chunks are returned from a step and after a sequence', async (setup) => {
      const { streamManager, streamId } = setup;
      const writer = await streamManager.createWriter(streamId, 'a', AGENT);
      for (const step of [1, 2, 2, 3]) await writer.write(textChunk(String(step), step));
      equal(textOf(await streamManager.getChunksFromStep(streamId, 2)), '223');
      equal(textOf(await streamManager.getChunksFromSequence(streamId, 3)), '3');
      equal(textOf(await streamManager.getChunksFromSequence(streamId, 99)), '');
    });

    it("a session's chunks are returned from a step of its newest turn", async (setup) => {
      const { streamManager, session } = setup;
      for (const turn of ['old', 'new']) {
        const { writer } = await session.speaking();
        await session.say(writer, 1, turn);
        await session.commit(writer);
      }
      equal(textOf(await streamManager.getChunksFromStep(session.id, 1)), 'new');
      equal(textOf(await streamManager.getAllChunks(session.id)), 'oldnew');
    });
  });

  describe('ending and pausing', () => {
    it('the first end counts', async ({ streamManager, streamId }) => {
      await streamManager.createWriter(streamId, 'a', AGENT);
      await streamManager.endStream(streamId, { answer: 42 });
      await streamManager.failStream(streamId, 'too late');
      await streamManager.pauseStream(streamId);
      equal(await streamManager.getStreamInfo(streamId), {
        status: 'ended',
        totalChunks: 0,
        latestSequence: 1,
      });
      includes(await streamManager.read(streamId, 0, 10), [
        { message: { type: 'stream_end', finalOutput: { answer: 42 } } },
      ]);
    });

    it('a stream with an active run, and one that does not exist, are refused', async (setup) => {
      const { streamManager, streamId, session } = setup;
      await session.newRun();
      const before = await session.record();
      await refuses(streamManager.endStream(session.id), 'stream_owned');
      await refuses(streamManager.failStream(session.id, 'x'), 'stream_owned');
      await refuses(streamManager.pauseStream(session.id), 'stream_owned');
      await refuses(streamManager.resumeStream(session.id), 'stream_owned');
      equal(await session.record(), before);
      await refuses(streamManager.endStream(streamId), 'not_found');
      await refuses(streamManager.pauseStream(streamId), 'not_found');
    });
  });
}
