import type { RunParts } from '../../activities/run-parts.js';
import { createAttempts } from '../../in-process/attempts.js';
import { createCalls } from '../../in-process/calls.js';
import { systemClock as clock } from '../../in-process/clock.js';
import { createLocalRun } from '../../in-process/local-run.js';
import { createWaiting } from '../../in-process/waiting.js';
import type { CallRef, Resumption, RunInput } from '../../protocol/run.js';

const INPUT: RunInput = {
  sessionId: 's-1',
  runId: 's-1:1-a',
  agent: 'guide',
  turn: 1,
  maxSteps: 5,
  searchAttributes: false,
  hasOutput: false,
};
const asked = { toolCallId: 'a', toolName: 'pay', kind: 'approval' } as CallRef;
const tool = { toolCallId: 's', toolName: 'nap', kind: 'server' } as CallRef;

it('a run that looks at a record in which nothing waits any more goes on', async () => {
  const run = createLocalRun(INPUT);
  const parts = {
    expireCalls: ({ look }: { look?: true }) => Promise.resolve({ isOver: look }),
  } as unknown as RunParts;
  const leaving = new AbortController().signal;
  const attempts = createAttempts({ clock, signal: leaving, logger: { warn: () => undefined } });
  const base = { parts, attempts, clock, leaving, carryChild: () => Promise.resolve() };
  const carryOut = createCalls({ ...base, untilAnswered: createWaiting(base) });
  const step = { kind: 'calls' as const, step: 1, calls: [asked] };
  const over = carryOut(run, { do: 'calls', step, machine: [], people: [asked] });
  await new Promise(setImmediate);
  expect(run.isAtWork()).toBe(false);
  run.look();
  expect(await over).toBe('answered');
});

it('a tool whose wait is over before it has reported that it waits is executed again', async () => {
  const run = createLocalRun(INPUT);
  const release = (resume: Resumption): void => {
    run.answer({ toolCallId: '', by: 'test', resume });
  };
  const executed: string[] = [];
  const parts = {
    toolCall: ({ toolCallId }: { toolCallId: string }) => {
      executed.push(toolCallId);
      if (executed.length > 1) return Promise.resolve({ kind: 'settled' });
      // Its webhook is called while the reply of the record is on its way.
      release({ step: 1, approved: ['s'], partial: true });
      return new Promise((resolve) => setImmediate(resolve, { kind: 'suspended' }));
    },
  } as unknown as RunParts;
  const leaving = new AbortController().signal;
  const attempts = createAttempts({ clock, signal: leaving, logger: { warn: () => undefined } });
  const base = { parts, attempts, clock, leaving, carryChild: () => Promise.resolve() };
  const carryOut = createCalls({ ...base, untilAnswered: createWaiting(base) });
  const step = { kind: 'calls' as const, step: 1, calls: [tool, asked] };
  const over = carryOut(run, { do: 'calls', step, machine: [tool], people: [asked] });
  await new Promise(setImmediate);
  await new Promise(setImmediate);
  release({ step: 1, approved: ['a'] });
  const stopped = setTimeout(() => {
    run.stop({});
  }, 1_000);
  expect(await over).toBe('answered');
  clearTimeout(stopped);
  expect(executed).toEqual(['s', 's', 'a']);
});
