import { z } from 'zod';
import { createCallJournal } from '../../activities/tool/call-journal.js';
import { checkWaited } from '../../agents/check-answer.js';
import type { RecordStepInput, SuspendCallInput } from '../../stores/contract/journal.js';

const WRITER = { sessionId: 's', runId: 'r', agentType: 'a', step: 1, name: 'c', token: 1 };

/** A journal, and what it asks of the store. */
function open() {
  const recorded: RecordStepInput[] = [];
  const waits: SuspendCallInput[] = [];
  const journal = createCallJournal({
    calls: {
      recordStep: (input) => {
        recorded.push(input);
        return Promise.resolve({ kind: 'recorded' });
      },
      suspend: (input) => {
        waits.push(input);
        return Promise.resolve({ kind: 'suspended' });
      },
    },
    writer: WRITER,
    call: { toolCallId: 'c', toolName: 'tool' },
    recorded: [],
    attempt: { cut: () => undefined },
    chunks: { flush: () => Promise.resolve() },
    toWebhookUrl: (secret) => secret,
    takeChanges: () => [],
  });
  return { journal, recorded, waits };
}

async function questionOf(schema: z.ZodType): Promise<unknown> {
  const { journal, waits } = open();
  void journal.suspend({ name: 'ask', schema });
  await journal.interruption;
  return waits[0]?.wait.input;
}

describe('the journal of an execution', () => {
  it('a step that throws is noted as failed, and the tool gets its error', async () => {
    const { journal, recorded } = open();
    const failing = journal.step('try', () => Promise.reject(new Error('no')));
    await expect(failing).rejects.toThrow('no');
    await journal.step('else', () => 1);
    expect(
      recorded.map(({ at, failed, operation }) => [at, failed, operation !== undefined]),
    ).toEqual([
      [0, undefined, false],
      [0, true, false],
      [1, undefined, false],
      [1, undefined, true],
    ]);
  });

  it('a question accepts what a pattern with flags accepts', async () => {
    const result = (value: unknown) => ({ kind: 'client-tool-result', result: value }) as never;
    const code = z.object({ code: z.string().regex(/^a/i).max(5) });
    const question = await questionOf(code);
    await checkWaited(question, result({ code: 'Abc' }));
    await expect(checkWaited(question, result({ code: 'Abcdefc' }))).rejects.toMatchObject({
      code: 'invalid_result',
    });
    await checkWaited(await questionOf(z.string().regex(/^\p{L}$/u)), result('ä'));
    const plain = await questionOf(z.string().regex(/^a/));
    await expect(checkWaited(plain, result('bc'))).rejects.toMatchObject({
      code: 'invalid_result',
    });
  });
});
