import type { LanguageModelUsage } from 'ai';
import { convertToUIMessages } from '../../../ai-sdk/parts/convert-messages.js';
import { DefinitionError, type MadeCompaction, type PrepareStep } from '../../../agents/index.js';
import {
  compaction,
  type CompactionSettings,
  type ToSummarize,
} from '../../../extensions/compaction/index.js';
import { createHarness } from '../../support/activity-harness.js';
import { fakeModel, parts, sayInTurn, type Script } from '../../support/fake-model.js';
import { createIdleRuns } from '../../support/idle-workflows.js';
import { drive, newSessionId } from '../../support/session-driver.js';
import { openTestStores } from '../../support/test-stores.js';
import { until } from '../../support/until.js';
import { fakeTool } from '../../support/fake-tool.js';

const { call, says, asks } = parts;
const LONG = 'x'.repeat(200);
const usage = { inputTokens: 100, outputTokens: 10 } as LanguageModelUsage;
const look = fakeTool('look', () => LONG);

const reply = says(LONG);
const hasNotes = ({ prompt }: { prompt: unknown }) => JSON.stringify(prompt).includes('notes');

/** Serves an agent whose steps each add about 60 tokens; the limit is 300. */
async function serve(
  script: Script = sayInTurn(),
  config: Partial<CompactionSettings> = {},
  more: object = {},
) {
  const asked: ToSummarize[] = [];
  const summarize = (request: ToSummarize) => {
    asked.push(request);
    return { text: `notes ${String(asked.length)}`, usage };
  };
  const prepareStep = compaction({ maxTokens: 300, keepTokens: 100, summarize, ...config });
  const model = fakeModel(script);
  const agent = { model, tools: [look], more: { prepareStep, ...more } };
  return { asked, model, agent, ...createHarness(await openTestStores(), agent) };
}

/** Returns a turn of `count` steps that call a tool, and a last step without calls. */
const steps = (count: number): Script =>
  sayInTurn(
    ...Array.from({ length: count }, (_, n) => asks(call(`c${String(n)}`, 'look', {}))),
    says('Done.'),
  );

describe('a long turn', () => {
  it('is summarised as it grows, and what is stored and shown stays as it was', async () => {
    const { stores, asked, model, session, begin, play } = await serve(steps(30));
    const run = await begin();
    expect(await play(run)).toMatchObject({ status: 'completed' });
    const sizes = model.doStreamCalls.map(({ prompt }) => JSON.stringify(prompt).length);
    expect(Math.max(...sizes)).toBeLessThan(2_500);
    expect(asked.length).toBeGreaterThan(3);
    expect(asked.length).toBeLessThan(15);
    expect(asked.map(({ previous }) => previous)).toEqual([
      undefined,
      ...asked.slice(1).map((_, n) => `notes ${String(n + 1)}`),
    ]);
    const last = JSON.stringify(model.doStreamCalls.at(-1)?.prompt);
    expect(last).toContain(`notes ${String(asked.length)}`);
    // Every prompt keeps a call together with its result.
    for (const { prompt } of model.doStreamCalls) {
      const json = JSON.stringify(prompt);
      const ids = (type: string) =>
        [...json.matchAll(new RegExp(`"type":"${type}","toolCallId":"(c\\d+)"`, 'g'))].map(
          (m) => m[1],
        );
      expect(ids('tool-call')).toEqual(ids('tool-result'));
    }
    const rows = await stores.store.sessions.rows(session.id, 0);
    expect(rows).toHaveLength(1 + 30 * 2 + 1);
    expect(JSON.stringify(await session.log())).not.toContain('notes');
    const shown = JSON.stringify(convertToUIMessages(rows));
    expect(shown).toContain('"c0"');
    expect(shown).not.toContain('notes');
    const { usage: total } = (await stores.store.runs.list(session.id))[0] ?? {};
    expect(total).toMatchObject({ inputTokens: 31 * 3 + asked.length * 100 });
  });

  it('is not summarised again after the death of an attempt that had its summary', async () => {
    let noteAsked = (): void => undefined;
    const asked = new Promise<'asked'>((resolve) => {
      noteAsked = () => resolve('asked');
    });
    const given = await serve((n, { prompt, abortSignal }) => {
      const isSummarised = JSON.stringify(prompt).includes('notes');
      if (!isSummarised) return asks(call(`c${String(n)}`, 'look', {}));
      if (given.model.doStreamCalls.filter(hasNotes).length > 1) return reply;
      noteAsked();
      return new Promise((_, reject) => {
        abortSignal?.addEventListener('abort', () => reject(new Error('cut')));
      });
    });
    const run = await given.begin();
    let step = 1;
    let lost: Promise<unknown> = given.step(run, step);
    while ((await Promise.race([lost, asked])) !== 'asked') {
      await given.tool(run, step, `c${String(step - 1)}`);
      step += 1;
      lost = given.step(run, step);
    }
    expect(given.asked).toHaveLength(1);
    // The second worker starts with an empty memory.
    const other = createHarness(given.stores, given.agent, given.session);
    expect(await other.step(run, step, 2)).toMatchObject({ status: 'completed' });
    expect(given.asked).toHaveLength(1);
    const [first, second] = given.model.doStreamCalls.filter(hasNotes);
    expect(second?.prompt).toEqual(first?.prompt);
    const { usage: total } = (await given.stores.store.runs.list(given.session.id))[0] ?? {};
    expect(total?.inputTokens).toBe(step * 3 + 100);
  });

  it('ends before the next model call when a summary has reached the spend cap', async () => {
    const { asked, model, begin, play } = await serve(steps(30), {}, { spendCap: { tokens: 120 } });
    expect(await play(await begin())).toMatchObject({
      status: 'failed',
      error: { code: 'spend_cap_reached' },
    });
    expect(asked).toHaveLength(1);
    expect(model.doStreamCalls.filter(hasNotes)).toEqual([]);
  });

  it.each([
    ['fails', () => Promise.reject(new Error('away'))],
    ['hangs', () => new Promise<string>(() => undefined)],
  ])('gets all messages when its summary %s', async (_how, summarize) => {
    const given = await serve(steps(8), { summarize, timeoutMs: 50 });
    expect(await given.play(await given.begin())).toMatchObject({ status: 'completed' });
    expect(JSON.stringify(given.model.doStreamCalls.at(-1)?.prompt)).toContain('"c0"');
  });

  it('counts an empty summary, and ends when it has reached the spend cap', async () => {
    let asked = 0;
    const summarize = () => {
      asked = given.model.doStreamCalls.length;
      return { text: ' ', usage };
    };
    const pricing = { inputPerMTok: 1, outputPerMTok: 2 };
    const more = { spendCap: { tokens: 120 }, llmConfig: { pricing } };
    const given = await serve(steps(30), { summarize }, more);
    const error = { code: 'spend_cap_reached' };
    expect(await given.play(await given.begin())).toMatchObject({ status: 'failed', error });
    expect(given.model.doStreamCalls).toHaveLength(asked);
    const [run] = await given.stores.store.runs.list(given.session.id);
    expect(run?.usage).toMatchObject({
      inputTokens: asked * 3 + 100,
      costMicroUsd: asked * 7 + 120,
    });
  });

  it('is stopped while its summary is written', async () => {
    let writing = false;
    const summarize = (): Promise<string> => {
      writing = true;
      return new Promise(() => undefined);
    };
    const given = await serve(steps(8), { summarize });
    const played = given.begin().then((run) => given.play(run));
    await until('it is written', () => Promise.resolve(writing));
    await given.session.stop();
    expect(await played).toMatchObject({ kind: 'ended', status: 'interrupted' });
  });
});

describe('a conversation with a summary', () => {
  /** Plays five turns, the last of which needs a summary. */
  async function converse() {
    const given = await serve(() => reply);
    while (given.asked.length === 0) await given.play(await given.begin());
    return given;
  }

  it('has it in the next turn, and in a branch', async () => {
    const { stores, asked, model, session, agent, begin, play } = await converse();
    await play(await begin());
    expect(JSON.stringify(model.doStreamCalls.at(-1)?.prompt)).toContain('notes 1');
    const id = newSessionId();
    await createIdleRuns(stores).branch({ sessionId: session.id, newSessionId: id, by: 'ann' });
    const branch = createHarness(stores, agent, drive(stores, id));
    const result = await branch.session.newRun('fresh');
    await branch.play(result);
    expect(JSON.stringify(model.doStreamCalls.at(-1)?.prompt)).toContain('notes 1');
    expect(asked).toHaveLength(1);
  });

  it('loses it with the messages that a retry drops', async () => {
    const { asked, model, session, play, stores } = await converse();
    const rows = await stores.store.sessions.rows(session.id, 0);
    expect(JSON.stringify(rows.at(-1))).toContain('notes 1');
    const again = await session.retry({ messageId: 'u1' });
    if (again.kind !== 'rewound') throw new Error(again.kind);
    await play(again.run);
    expect(JSON.stringify(model.doStreamCalls.at(-1)?.prompt)).not.toContain('notes');
    expect(asked).toHaveLength(1);
  });
});

describe("a summary of the agent's own code", () => {
  /** Plays two turns; in the second, the agent keeps a summary. */
  async function keep(make: unknown, timeoutMs: unknown = 1_000) {
    let kept: unknown;
    const prepareStep: PrepareStep = async ({ messages, compaction: record }) => {
      if (messages.length > 1)
        kept = await record
          .keep(make as () => MadeCompaction, timeoutMs as number)
          .catch((error: unknown) => error);
      return undefined;
    };
    const given = await serve(() => reply, {}, { prepareStep });
    await given.play(await given.begin());
    await given.play(await given.begin());
    return {
      kept,
      rows: JSON.stringify(await given.stores.store.sessions.rows(given.session.id, 0)),
    };
  }

  it.each([
    [{ messages: 0, summary: 's' }, 'messages must be a whole number from 1 to 2, not 0'],
    [{ messages: 3, summary: 's' }, 'messages must be a whole number from 1 to 2, not 3'],
    [{ messages: 1.5, summary: 's' }, 'messages must be a whole number from 1 to 2, not 1.5'],
    [{ summary: 's' }, 'messages is missing'],
    [{ messages: 1, summary: ' ' }, 'summary must be a string that is not blank'],
    [{ messages: 1, summary: 's', pricing: 3 }, 'pricing must be an object, not 3'],
    ['notes', 'it must be an object, not "notes"'],
  ])('%j is refused, and nothing of it is stored', async (made, message) => {
    const { kept, rows } = await keep(() => made);
    expect(kept).toBeInstanceOf(DefinitionError);
    expect((kept as Error).message).toMatch(/^compaction\.keep: /);
    expect((kept as Error).message).toContain(message);
    expect(rows).not.toContain('compaction');
  });

  it('needs a function and a time', async () => {
    expect(String((await keep('notes')).kept)).toContain('make must be a function');
    expect(String((await keep(() => undefined, NaN)).kept)).toContain('timeoutMs must be');
  });

  it('is cut to what later prompts can hold', async () => {
    const { kept, rows } = await keep(() => ({ messages: 2, summary: '🎉'.repeat(99_999) }));
    expect(kept).toEqual({ messages: 2, summary: '🎉'.repeat(16_000) });
    expect(rows.match(/🎉/gu)).toHaveLength(16_000);
  });
});
