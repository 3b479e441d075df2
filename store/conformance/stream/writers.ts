import type { StreamChunk } from '../../../protocol/chunk.js';
import { equal, eventually, includes, refuses } from '../assertions.js';
import { AGENT, server, textChunk, textIn, textOf } from '../fixtures.js';
import { HALF } from '../hostile.js';
import { drive, type SessionDriver } from '../session-driver.js';
import { followLog } from './collect.js';
import type { Case, Suite } from '../suite.js';
import { NO_RUN, type Writer } from '../../contract/log.js';

const say = async (setup: Case): Promise<string> =>
  textOf(await setup.streamManager.getAllChunks(setup.streamId));

function writerCases({ describe, it }: Suite): void {
  describe('stream writers', () => {
    it('writes keep their order, also those that were not awaited', async (setup) => {
      const { streamManager, streamId } = setup;
      const writer = await streamManager.createWriter(streamId, 'a', AGENT);
      const words = Array.from({ length: 450 }, (_, n) => `${String(n)} `);
      await Promise.all(words.map((word) => writer.write(textChunk(word))));
      equal(await say(setup), words.join(''));
      includes(await streamManager.getStreamInfo(streamId), { latestSequence: 450 });
    });

    it('more writes than fit into one append are stored', async (setup) => {
      const writer = await setup.streamManager.createWriter(setup.streamId, 'a', AGENT);
      const words = Array.from({ length: 12 }, (_, n) => String(n % 10).repeat(40_000));
      await Promise.all(words.map((word) => writer.write(textChunk(word))));
      equal((await say(setup)) === words.join(''), true);
    });

    it('a later attempt of the same name withdraws what earlier ones wrote', async (setup) => {
      const { streamManager, streamId, another } = setup;
      const name = 'research';
      const old = await streamManager.createWriter(streamId, 'a', AGENT, { name });
      const beside = await streamManager.createWriter(streamId, 'a', AGENT);
      await old.write(textChunk('gone '));
      await beside.write(textChunk('kept '));
      await old.write(textChunk('too '));
      const young = await (
        await another()
      ).streamManager.createWriter(streamId, 'a', AGENT, { name, attempt: 2 });
      await refuses(old.write(textChunk('zombie')), 'writer_fenced');
      await refuses(old.write(textChunk('zombie')), 'writer_fenced');
      await young.write(textChunk('new'));
      equal(await say(setup), 'kept new');
      const chunks = await streamManager.getAllChunks(streamId);
      equal(
        chunks.map(({ type }) => type),
        ['text_delta', 'step_discarded', 'stream_resync', 'text_delta'],
      );
    });

    it('entries stay when a writer is closed', async (setup) => {
      const { streamManager, streamId } = setup;
      const name = 'research';
      const first = await streamManager.createWriter(streamId, 'a', AGENT, { name });
      const writing = first.write(textChunk('kept '));
      await first.close();
      await writing;
      await first.close();
      await refuses(first.write(textChunk('late')), 'writer_closed');
      const next = await streamManager.createWriter(streamId, 'a', AGENT, { name, attempt: 2 });
      await next.write(textChunk('and more'));
      equal(await say(setup), 'kept and more');
      equal((await streamManager.getAllChunks(streamId)).length, 2);
    });

    it('writes are refused while the stream is paused and accepted afterwards', async (setup) => {
      const { streamManager, streamId } = setup;
      const writer = await streamManager.createWriter(streamId, 'a', AGENT);
      await writer.write(textChunk('a'));
      await streamManager.pauseStream(streamId);
      await refuses(writer.write(textChunk('refused')), 'stream_paused');
      await streamManager.resumeStream(streamId);
      await writer.write(textChunk('b'));
      equal(await say(setup), 'ab');
    });

    it('an old writer is refused after the end, and a new one reopens the stream', async (setup) => {
      const { streamManager, streamId } = setup;
      const writer = await streamManager.createWriter(streamId, 'a', AGENT);
      await writer.write(textChunk('a'));
      await streamManager.endStream(streamId);
      await refuses(writer.write(textChunk('late')), 'writer_fenced');
      const next = await streamManager.createWriter(streamId, 'a', AGENT);
      includes(await streamManager.getStreamInfo(streamId), { status: 'active', totalChunks: 1 });
      await next.write(textChunk('b'));
      equal(await say(setup), 'ab');
      // The end between them has a number too; numbers are never reused.
      includes(await streamManager.getStreamInfo(streamId), { latestSequence: 3 });
    });

    it('a write is accepted at whatever moment it comes', async ({ streamManager, streamId }) => {
      const writer = await streamManager.createWriter(streamId, 'a', AGENT);
      for (let turns = 0; turns < 60; turns += 1) {
        const first = writer.write(textChunk('a'));
        for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
        let isStored = false;
        const second = writer.write(textChunk('b')).then(() => (isStored = true));
        await eventually('the write is stored', () => isStored);
        await Promise.all([first, second]);
      }
    });

    it('a second writer of the same name and attempt is refused, and nothing is lost', async (setup) => {
      const { streamManager, streamId } = setup;
      const first = await streamManager.createWriter(streamId, 'a', AGENT, { name: 'x' });
      await first.write(textChunk('first'));
      const open = streamManager.createWriter(streamId, 'a', AGENT, { name: 'x' });
      await refuses(open, 'writer_fenced');
      await first.write(textChunk(' second'));
      equal(await say(setup), 'first second');
      await first.close();
      const next = await streamManager.createWriter(streamId, 'a', AGENT, { name: 'x' });
      await next.write(textChunk(' third'));
      equal(await say(setup), 'first second third');
    });

    it('a writer beside a run leaves its session unchanged and is refused after the run', async (setup) => {
      const { streamManager, session } = setup;
      const { runId } = await session.newRun();
      const before = await session.record();
      const writer = await streamManager.createWriter(session.id, session.id, AGENT);
      await writer.write(textChunk('a note'));
      includes(await session.record(), {
        status: before?.status,
        stream: before?.stream,
        sequence: (before?.sequence ?? 0) + 1,
      });
      await session.end(runId, 'completed');
      await refuses(writer.write(textChunk('late')), 'writer_fenced');
      const open = streamManager.createWriter(session.id, session.id, AGENT);
      await refuses(open, 'stream_ended');
    });
  });
}

function appendCases({ describe, it }: Suite): void {
  describe('append', () => {
    it('many concurrent copies of a batch, and later ones, are stored once and get one reply', async (setup) => {
      const { session, another } = setup;
      const { writer } = await session.claimed();
      const other = (await another()).streamManager;
      const chunk = [textChunk('once')];
      const replies = await Promise.all(
        Array.from({ length: 8 }, (_, n) =>
          (n % 2 === 0 ? setup.streamManager : other).append(writer, 1, chunk),
        ),
      );
      equal(new Set(replies.map((reply) => JSON.stringify(reply))).size, 1);
      const beside = await other.createWriter(session.id, session.id, AGENT);
      await beside.write(textChunk(', beside'));
      equal(await setup.streamManager.append(writer, 1, chunk), replies[0]);
      equal(textIn(await session.log()), 'once, beside');
    });

    it('even a repeated batch is superseded once the run was ended elsewhere', async (setup) => {
      const { session } = setup;
      const { runId, writer } = await session.claimed();
      await session.say(writer, 1, 'x');
      await session.end(runId, 'interrupted');
      // The claim was deleted with the run, so the store can only refuse.
      equal(await session.say(writer, 1, 'x'), { kind: 'superseded' });
      equal(textIn(await session.log()), 'x');
    });

    it('an append without a claim, or after the commit, is refused', async ({ session }) => {
      const { runId } = await session.newRun();
      const writer = session.writer(runId, 1, 1);
      equal(await session.say(writer, 1, 'x'), { kind: 'fenced' });
      await session.claim(writer);
      await session.commit(writer, { calls: [], final: undefined });
      equal(await session.say(writer, 1, 'x'), { kind: 'fenced' });
    });

    it('entries of a tool are stored beside those of others, under its writer name', async (setup) => {
      const { session } = setup;
      const { runId } = await session.asked(server('s'));
      const tool = session.callWriter(runId, 1, 's', 1);
      equal(await session.say(tool, 1, 'early'), { kind: 'fenced' });
      await session.start(runId, 1, 's');
      includes(await session.say(tool, 1, 'working'), { kind: 'appended' });
      equal((await session.log()).at(-1)?.writer, 't:s');
    });
  });
}

interface Opened {
  session: SessionDriver;
  writer: Writer;
}

/** A store may send appends of several sessions together; each keeps its own outcome. */
function appendsAtOnceCases({ describe, it }: Suite): void {
  describe('appends of several sessions at once', () => {
    it('each has an outcome of its own', async (stores) => {
      const [fine, stopped, fenced, superseded, repeated, tooLarge] = await Promise.all([
        open(stores),
        open(stores),
        open(stores),
        open(stores),
        open(stores),
        open(stores),
      ]);
      const first = await sayTo(repeated, 1, 'once');
      await stopped.session.stop();
      await fenced.session.claim({ ...fenced.writer, token: 2 });
      await superseded.session.end(superseded.writer.runId, 'failed');
      const long = textChunk('x'.repeat(300_000), 1, tooLarge.session.id);

      const [ofFine, ofStopped, ofFenced, ofSuperseded, ofRepeated] = await Promise.all([
        sayTo(fine, 1, 'a'),
        sayTo(stopped, 1, 'b'),
        sayTo(fenced, 1, 'c'),
        sayTo(superseded, 1, 'd'),
        sayTo(repeated, 1, 'once'),
        refuses(stores.streamManager.append(tooLarge.writer, 1, [long]), 'chunk_too_large'),
      ]);
      includes(ofFine, { kind: 'appended', stopRequested: false });
      includes(ofStopped, { kind: 'appended', stopRequested: true });
      equal(ofFenced, { kind: 'fenced' });
      equal(ofSuperseded, { kind: 'superseded' });
      equal(ofRepeated, first);

      // Refused appends took no number, and stored ones are continued.
      await Promise.all([
        sayTo(fine, 2, 'e'),
        sayTo(repeated, 2, ' more'),
        sayTo(tooLarge, 1, 'f'),
      ]);
      const texts = [fine, stopped, fenced, superseded, repeated, tooLarge].map(textOfLog);
      equal(await Promise.all(texts), ['ae', 'b', '', '', 'once more', 'f']);
    });

    it('batches of one writer are stored in their order', async (stores) => {
      const both = await Promise.all([open(stores), open(stores)]);
      const batches = Array.from({ length: 50 }, (_, at) => at + 1);
      const replies = await Promise.all(
        batches.flatMap((batch) => both.map((each) => sayTo(each, batch, `${String(batch)} `))),
      );
      equal(new Set(replies.map(({ kind }) => kind)).size, 1);
      const text = batches.map((batch) => `${String(batch)} `).join('');
      equal(await Promise.all(both.map(textOfLog)), [text, text]);
    });
  });
}

async function open(stores: Case): Promise<Opened> {
  const session = drive(stores);
  const { writer } = await session.claimed();
  return { session, writer };
}

function sayTo({ session, writer }: Opened, batch: number, text: string) {
  return session.say(writer, batch, text);
}

async function textOfLog({ session }: Opened): Promise<string> {
  return textOf((await session.log()).map(({ message }) => message));
}

const TEXTS = [
  '',
  'word ',
  'two\nlines',
  '\r\n',
  '["a"]',
  '"',
  '\\n',
  '\u0000',
  '\u2028',
  '🙂',
  '{}',
];

/** Deltas of every kind, by the stream's own agent, by sub-agents of it and by others. */
function deltasOf(streamId: string): StreamChunk[] {
  const agents = [
    streamId,
    `${streamId}.1a`,
    `${streamId}.`,
    `${streamId}x`,
    'agent',
    'another '.repeat(9),
  ];
  return agents.flatMap((agentId) =>
    TEXTS.flatMap((text, n): StreamChunk[] => {
      const base = { agentId, agentType: 'a "b"\n', step: n, timestamp: n + 0.5 };
      return [
        { type: 'text_delta', ...base, delta: text },
        { type: 'thinking', ...base, content: text, isComplete: n % 2 === 0 },
        { type: 'tool_arg_stream_delta', ...base, toolCallId: `c${text}`, delta: text },
      ];
    }),
  );
}

/** Cases for deltas. Most entries of a log are deltas, so a store may have a special form for them. */
function deltaCases({ describe, it }: Suite): void {
  describe('deltas', () => {
    it('each is read and followed as it was written', async ({ streamManager, streamId }) => {
      const writer = writerOf(streamId, 1, 'w');
      await streamManager.openWriter(writer, 'n', 1);
      const early = followLog(streamManager, streamId);
      const deltas = deltasOf(streamId);
      await streamManager.append(writer, 1, deltas);
      const expected = deltas.map((message, n) => ({
        sequence: n + 1,
        writer: writer.name,
        message,
      }));
      equal(await streamManager.read(streamId, 0, deltas.length + 1), expected);
      await eventually('they were followed', () => early.entries.length === deltas.length);
      equal(early.entries, expected);
      await early.stop();
    });

    it('a replay reads adjacent ones as one, up to a sequence and no further', async (setup) => {
      const { streamManager, streamId } = setup;
      const writer = writerOf(streamId, 1, 'w');
      await streamManager.openWriter(writer, 'n', 1);
      const base = { ...textChunk('', 1, streamId), timestamp: 1_763_841_234_567 };
      const deltas = TEXTS.map((delta) => ({ ...base, delta }));
      await streamManager.append(writer, 1, deltas);
      const upTo = deltas.length - 1;
      const joined = await streamManager.read(streamId, 1, deltas.length, upTo);
      equal(textIn(joined), TEXTS.slice(1, upTo).join(''));
      equal(joined.at(-1)?.sequence, upTo);
    });

    it('what the protocol does not know of a delta is kept', async (setup) => {
      const { streamManager, streamId } = setup;
      const writer = writerOf(streamId, 1);
      await streamManager.openWriter(writer, 'n', 1);
      const delta = { ...textChunk('a', 1, streamId), language: 'en' };
      await streamManager.append(writer, 1, [delta]);
      equal((await streamManager.read(streamId, 0, 1))[0]?.message, delta);
    });

    it('half a character becomes U+FFFD', async ({ streamManager, streamId }) => {
      const writer = writerOf(streamId, 1);
      await streamManager.openWriter(writer, 'n', 1);
      await streamManager.append(writer, 1, [textChunk(`a${HALF}`, 1, streamId)]);
      equal(textIn(await streamManager.read(streamId, 0, 1)), 'a\ufffd');
    });

    it('those of later steps are removed, of one agent if it is named', async (setup) => {
      const { streamManager, streamId } = setup;
      const child = `${streamId}.1a`;
      const writer = writerOf(streamId, 1);
      await streamManager.openWriter(writer, 'n', 1);
      const chunks = [streamId, child].flatMap((agent) =>
        [1, 2].map((step) => textChunk(`${String(step)} of ${agent} `, step, agent)),
      );
      await streamManager.append(writer, 1, chunks);
      const text = async (): Promise<string> =>
        textIn(await streamManager.read(streamId, 0, 10)).replaceAll(streamId, 's');
      equal(await streamManager.cleanupToStep(streamId, 1, { agentId: child }), 1);
      equal(await text(), '1 of s 2 of s 1 of s.1a ');
      equal(await streamManager.cleanupToStep(streamId, 1), 1);
      equal(await text(), '1 of s 1 of s.1a ');
    });
  });

  describe('deltas of a lost attempt', () => {
    it('are withdrawn, and charged by their bytes', async ({ store, session, streamManager }) => {
      const { runId, writer: lost } = await session.claimed();
      const base = { agentId: session.id, agentType: AGENT, step: 1, timestamp: 1 };
      await streamManager.append(lost, 1, [
        { type: 'thinking', ...base, content: 'äöü', isComplete: false },
        { type: 'tool_arg_stream_delta', ...base, toolCallId: 'c1', delta: '{"a":1}' },
        { type: 'text_delta', ...base, delta: 'hello, ' },
      ]);
      const writer = session.writer(runId, 1, 2);
      // The store assumes four bytes per token.
      includes(await store.steps.claim({ writer, known: 0, now: 1, perToken: 2 }), {
        usage: { inputTokens: 0, outputTokens: 5, costMicroUsd: 10 },
      });
      equal(textIn(await session.log()), '');
    });
  });
}

/** A writer of a stream that belongs to no run. */
const writerOf = (sessionId: string, token: number, name = 'w:one'): Writer => ({
  sessionId,
  runId: NO_RUN,
  name,
  token,
  agentType: AGENT,
  step: 1,
});

export function streamWriterCases(suite: Suite): void {
  writerCases(suite);
  appendCases(suite);
  appendsAtOnceCases(suite);
  deltaCases(suite);
}
