import { createStepTable } from '../../activities/leg/run-leg.js';
import { fakeModel, parts } from '../support/fake-model.js';
import { createLegHarness, openProcess } from '../support/leg-harness.js';

const DONE = () => parts.says('done');

it('a leg that replaces a lost one continues its table, and knows how far the log had come', async () => {
  const { begin, leg } = createLegHarness({ model: fakeModel(DONE) });
  const steps = [{ step: 0, model: 'a', ms: 5 }];
  const replaces = { token: 1, number: 1, progress: { known: 0, at: Date.now(), steps } };
  const outcome = await leg(await begin(), openProcess(), { replaces });
  expect(outcome.steps.map(({ step, model }) => [step, model === 'a'])).toEqual([
    [0, true],
    [1, false],
  ]);
  const ahead = { ...replaces, progress: { known: 1_000_000 } };
  const rewound = createLegHarness({ model: fakeModel(DONE) });
  expect(
    await rewound.leg(await rewound.begin(), openProcess(), { replaces: ahead }),
  ).toMatchObject({ at: { next: { error: { code: 'state_lost' } } } });
});

it('a leg ends a run whose record was restored from a copy', async () => {
  const { begin, leg } = createLegHarness({ model: fakeModel(DONE) });
  const at = { version: 1_000, sequence: 0, next: { do: 'open', step: 1 } } as const;
  const outcome = await leg(await begin(), openProcess(), { at });
  expect(outcome).toMatchObject({ at: { next: { error: { code: 'state_lost' } } } });
});

it('a leg whose conversation was erased ends, and nothing of it was lost', async () => {
  const { begin, leg, deps, session } = createLegHarness({ model: fakeModel(DONE) });
  const run = await begin();
  await deps.store.sessions.erase(session.id);
  const { at } = await leg(run);
  expect(at.next).toMatchObject({ do: 'done', status: 'superseded' });
});

it('calls that the lost one has reported are in the table once', () => {
  const call = { tool: 'echo', ms: 1, outcome: 'ok' };
  const table = createStepTable([{ step: 1 }, { step: 2, calls: [call] }]);
  // One was reported, one was settled and not reported, and one is executed now.
  for (const isNew of [false, false, true]) table.called(2, call, isNew);
  table.called(3, call, false);
  expect(table.lines.map(({ calls = [] }) => calls.length)).toEqual([0, 3, 1]);
});
