import { workflowIdOf } from '../../../protocol/ids.js';
import { charge, delegate } from '../../support/lab-calls.js';
import type { RecordedScenario, Stage } from './stage.js';

const call = (tool: string, id: string, args: object = {}): object => ({ tool, id, args });
const say = (text: string, more: object = {}): object => ({
  say: text,
  deltas: 4,
  everyMs: 8,
  ...more,
});

/** A script that runs to its end without answers. */
const alone =
  (...script: object[]): RecordedScenario =>
  async (stage) =>
    stage.untilOver(await stage.begin(script));

/** A script that asks people, with what they do, once for each time that it asks. */
const asking =
  (
    script: object[],
    ...acts: ((stage: Stage, run: Parameters<Stage['stop']>[0]) => Promise<void>)[]
  ) =>
  async (stage: Stage) => {
    const run = await stage.begin(script);
    for (const act of acts) {
      await stage.untilAsked(run);
      await act(stage, run);
    }
    return stage.untilOver(run);
  };

/** Turns that need no answer. */
const speaking: Record<string, RecordedScenario> = {
  'text-and-reasoning': alone(say('Four pieces of a text.', { think: 'What shall I say?' })),
  'streamed-arguments': alone(
    say('Let me look. ', {
      calls: [{ ...call('echo', 'c1', { value: { deep: [1, 2] } }), argDeltas: 5 }],
    }),
    say('That is it.'),
  ),
  'parallel-tools': alone(
    say('All at once. ', {
      calls: [
        call('echo', 'c1', { value: 'a' }),
        call('boom', 'c2', { message: 'it broke' }),
        call('sleep', 'c3', { ms: 40 }),
        call('unknown', 'c4'),
        call('charge', 'c5', { amount: 'many' }),
      ],
    }),
    say('Some of it worked.'),
  ),
  'tools-that-tell': alone(
    {
      calls: [call('progress', 'c1', { steps: 3 }), call('remember', 'c2', { key: 'k', value: 7 })],
    },
    say('Reported and kept.'),
  ),
  'structured-output': async (stage) =>
    stage.untilOver(await stage.begin([say('So: ', { finish: { answer: 42 } })], 'lab-report')),
  'sub-agents': alone(
    say('Over to you. ', {
      calls: [
        delegate('d1', { say: 'Not for the page.', calls: [call('echo', 'e1', { value: 1 })] }),
        call('report', 'r1'),
      ],
    }),
    say('Both are back.'),
  ),
};

/** Turns that wait for people. */
const waiting: Record<string, RecordedScenario> = {
  approved: asking([say('May I? ', { calls: [charge('c1')] }), say('Thank you.')], (stage, run) =>
    stage.approve(run, 'c1'),
  ),
  denied: asking([say('May I? ', { calls: [charge('c1')] }), say('A pity.')], (stage, run) =>
    stage.deny(run, 'c1', 'too much'),
  ),
  'approved-with-other-input': asking([{ calls: [charge('c1')] }, say('Changed.')], (stage, run) =>
    stage.approve(run, 'c1', { input: { amount: 3 } }),
  ),
  'client-tool': asking(
    [say('Where are you? ', { calls: [call('locate', 'c1')] }), say('I see.')],
    (stage, run) => stage.give(run, 'c1', { result: { city: 'Rome' } }),
  ),
  'client-tool-that-fails': asking(
    [{ calls: [call('locate', 'c1')] }, say('Never mind.')],
    (stage, run) => stage.give(run, 'c1', { error: 'no signal' }),
  ),
  'two-questions-beside-tools': asking(
    [
      say('Two things. ', {
        calls: [
          call('echo', 'c1', { value: 1 }),
          charge('c2', 1),
          call('progress', 'c3', { steps: 1 }),
          charge('c4', 2),
        ],
      }),
      say('One more. ', { calls: [charge('c5', 3)] }),
      say('Done.'),
    ],
    async (stage, run) => {
      await stage.approve(run, 'c2');
      await stage.deny(run, 'c4');
    },
    (stage, run) => stage.approve(run, 'c5'),
  ),
  'approval-beside-client-tool': asking(
    [say('Both. ', { calls: [charge('c1'), call('locate', 'c2')] }), say('Good.')],
    async (stage, run) => {
      await stage.approve(run, 'c1');
      await stage.give(run, 'c2', { result: 'Rome' });
    },
  ),
  'sub-agent-that-asks': asking(
    [
      say('Ask for me. ', {
        calls: [
          delegate('d1', { say: 'Hm.', calls: [charge('e1')] }, { say: 'Paid.' }),
          charge('c1', 2),
        ],
      }),
      say('All settled.'),
    ],
    async (stage, run) => {
      await stage.approve(run, 'e1');
      await stage.approve(run, 'c1');
    },
  ),
  'nobody-answers-in-time': async (stage) =>
    stage.untilOver(
      await stage.begin([{ calls: [call('ask', 'c1', { question: '?' })] }, say('Late.')]),
    ),
  abandoned: asking(
    [say('May I? ', { calls: [charge('c1'), call('locate', 'c2')] })],
    (stage, run) => stage.send(run, [say('Something else then.')]),
  ),
};

/** Turns that do not go as they were meant to. */
const disturbed: Record<string, RecordedScenario> = {
  'stopped-while-speaking': async (stage) => {
    const run = await stage.begin([say('A long story that no one wants.', { everyMs: 400 })]);
    await stage.untilTold(run, 'A long');
    await stage.stop(run);
    return stage.untilOver(run);
  },
  'stopped-while-a-tool-works': async (stage) => {
    const run = await stage.begin([
      say('A nap. ', { calls: [call('sleep', 'c1', { ms: 60_000 })] }),
    ]);
    await stage.untilTold(run, 'tool_start');
    await stage.stop(run);
    return stage.untilOver(run);
  },
  'stopped-before-a-word': async (stage) => {
    const run = await stage.begin([{ hangMs: 60_000 }]);
    await stage.runs.untilStatus(run.sessionId, 'running');
    await stage.stop(run, 'abort');
    return stage.untilOver(run);
  },
  'stopped-while-it-waits': asking([say('May I? ', { calls: [charge('c1')] })], (stage, run) =>
    stage.stop(run),
  ),
  'provider-fails-once': alone(
    say('The first try, which is lost.', {
      think: 'Again?',
      fail: { status: 503, afterDeltas: 3, retryAfterMs: 20, times: 1 },
      attempts: [{}, { say: 'The second try.', think: 'Once more.' }],
    }),
  ),
  'provider-fails-after-a-tool': alone(
    say('First this. ', { calls: [call('echo', 'c1', { value: 1 })] }),
    say('Then the end of it.', { fail: { status: 400, afterDeltas: 2 } }),
  ),
  'attempt-taken-over': async (stage) => {
    const run = await stage.begin([
      say('First this. ', { calls: [call('echo', 'c1', { value: 1 })] }),
      say('One attempt. ', { everyMs: 400, calls: [{ ...call('echo', 'c2', {}), argDeltas: 3 }] }),
      say('Done.'),
    ]);
    await stage.untilTold(run, 'One a');
    await goBack(stage, run.runId);
    return stage.untilOver(run);
  },
  steered: async (stage) => {
    const run = await stage.begin([say('A nap. ', { calls: [call('sleep', 'c1', { ms: 400 })] })]);
    await stage.untilTold(run, 'tool_start');
    await stage.send(run, [say('Gladly.')], 'steer');
    return stage.untilOver(run);
  },
  queued: async (stage) => {
    const run = await stage.begin([say('One after', { everyMs: 100 })]);
    await stage.untilTold(run, 'One');
    await stage.send(run, [say('the other.')], 'queue');
    return stage.untilOver(run);
  },
  resumed: async (stage) => {
    const run = await stage.begin([
      say('One. ', { calls: [call('echo', 'c1', { value: 1 })] }),
      say('Two is long.', { everyMs: 400 }),
      say('Three.'),
    ]);
    await stage.untilTold(run, 'Two');
    await stage.stop(run);
    await stage.untilOver(run);
    await stage.runs.executor.resume({ sessionId: run.sessionId });
    return stage.untilOver(run);
  },
  retried: async (stage) => {
    const run = await stage.begin([
      say('Again. ', { calls: [call('echo', 'c1', { value: 1 })] }),
      say('Done.'),
    ]);
    await stage.untilOver(run);
    await stage.runs.executor.retry({ sessionId: run.sessionId });
    return stage.untilOver(run);
  },
};

/** The run's second step is taken up by another worker, as after a crash of the first. */
async function goBack({ runs }: Stage, runId: string): Promise<void> {
  const handle = runs.client.workflow.getHandle(workflowIdOf(runId));
  const { events = [] } = await handle.fetchHistory();
  const completed = (events ?? []).filter((event) => event.workflowTaskCompletedEventAttributes);
  const last = completed.at(-1)?.eventId;
  const { firstExecutionRunId } = await handle.describe().then(({ raw }) => ({
    firstExecutionRunId: raw.workflowExecutionInfo?.execution?.runId,
  }));
  await runs.client.workflowService.resetWorkflowExecution({
    namespace: runs.client.options.namespace,
    workflowExecution: { workflowId: workflowIdOf(runId), runId: firstExecutionRunId ?? null },
    workflowTaskFinishEventId: last ?? null,
    requestId: runId,
    reason: 'test',
  });
}

export const recordedScenarios: Record<string, RecordedScenario> = {
  ...speaking,
  ...waiting,
  ...disturbed,
};
