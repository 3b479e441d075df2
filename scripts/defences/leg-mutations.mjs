const LOOP = 'test/activities/leg.test.ts';
const LEGS = 'test/workflows/legs.test.ts';

/** Runs whose steps and calls one activity carries out. */
export const legs = [
  {
    defence: 'Legs: what a process has committed is not done again by the next one',
    file: 'activities/leg/run-leg.ts',
    edits: [
      [
        'carry = takeStep(carry, outcome);\n          next = afterStep(carry, next.step,',
        'carry = takeStep(carry, { ...outcome, step: next.step } as StepOutcome);\n          next = afterStep(carry, next.step,',
      ],
    ],
    suite: LOOP,
    test: 'a leg that is begun again starts at the first step that is not committed, and asks for each call',
  },
  {
    defence: 'Legs: what a lost leg has left reaches its successor',
    file: 'worker/lease/take-over.ts',
    edits: [["{ kind: 'lost', token, number, progress }", "{ kind: 'lost', token, number }"]],
    suite: 'test/e2e/legs/lost-leg.test.ts',
    test: 'a leg that was lost with its worker leaves its steps, and how far the log has come, to its successor',
  },
  {
    defence: 'Legs: calls that a lost leg has reported are in the table once',
    file: 'activities/leg/step-table.ts',
    edits: [['        repeats -= 1;\n        return;\n', '']],
    suite: 'test/activities/lost-leg.test.ts',
    test: 'calls that the lost one has reported are in the table once',
  },
  {
    defence: 'Legs: lost attempts count among those that the author of a tool allows',
    file: 'workflows/step-calls.ts',
    edits: [['leftOf(activity, lease.replaces,', 'leftOf(activity, undefined,']],
    suite: LEGS,
    test: 'a tool with an activity of its own, of the agent usual is attempted no more often than its author allows, lost attempts included',
  },
  {
    defence: 'Legs: a call that waited for a place when its worker left has used nothing up',
    file: 'activities/tool-call.ts',
    edits: [['      else attempt.noteUnbegun();\n', '']],
    suite: 'test/activities/unbegun-call.test.ts',
    test: 'a worker that shuts down says whether a call that it hands over had begun',
  },
  {
    defence: 'Legs: nor does it count among the attempts',
    file: 'workflows/call-activity.ts',
    edits: [['number - unbegun', 'number']],
    suite: 'test/workflows/call-activity.test.ts',
    test: 'an attempt that was handed over before it began does not count',
  },
  {
    defence: 'Legs: the record says how often a result did not fit',
    file: 'activities/model/step-outcome.ts',
    edits: [['{ ...decided, ...soFar(replied) }', 'decided']],
    suite: LOOP,
    test: 'a leg that is begun again knows how often a result did not fit',
  },
  {
    defence: 'Legs: a step has at most ten calls at once',
    file: 'activities/leg/leg-calls.ts',
    edits: [['const CALLS_AT_ONCE = 10;', 'const CALLS_AT_ONCE = 1000;']],
    suite: LOOP,
    test: 'a leg executes the calls of a step beside each other, at most ten at once',
  },
  {
    defence: 'Legs: calls that need the workflow are left to it',
    file: 'activities/leg/run-leg.ts',
    edits: [['if (next.machine.some(needsWorkflow)) return left();', '']],
    suite: LOOP,
    test: 'a leg leaves what people, sub-agents or activities of their own are to do to the workflow',
  },
  {
    defence: 'Legs: one hands over when its time is over or its worker shuts down',
    file: 'activities/leg/run-leg.ts',
    edits: [['if (isBoundary && !isFirst && mustLeave()) return left();', '']],
    suite: LOOP,
    test: 'a leg hands over at a step boundary when its time is over, or its worker shuts down',
  },
  {
    defence: 'Legs: a worker says that it shuts down',
    file: 'worker/agent-plugin.ts',
    edits: [['isDraining: () => isDraining(),', 'isDraining: () => false,']],
    suite: LEGS,
    test: 'a run in legs is handed over by a worker that shuts down, at the next step boundary',
  },
  {
    defence: 'Legs: a tool that outlives its time is left behind',
    file: 'activities/tool-call.ts',
    edits: [['tool?.timeoutMs ?? permitted.limitMs', 'undefined']],
    suite: LOOP,
    test: 'a leg aborts a tool that outlives its time, and leaves it behind',
  },
  {
    defence: 'Legs: another execution in place counts as one',
    file: 'activities/leg/leg-calls.ts',
    edits: [['attempt.token + retries', 'attempt.token']],
    suite: LOOP,
    test: 'a leg executes a tool that may be tried again in place, once it has paused',
  },
  {
    defence: 'Legs: no attempt ends before the calls that it began',
    file: 'activities/leg/leg-calls.ts',
    edits: [
      ['        failures.push(error);\n', '        failures.push(error);\n        throw error;\n'],
    ],
    suite: LOOP,
    test: 'a leg waits for calls that have begun before its attempt fails',
  },
  {
    defence: 'Tools: one whose activity fails for good does not fail the run',
    file: 'workflows/step-calls.ts',
    edits: [['if (!(error instanceof ActivityFailure)) throw error;', 'throw error;']],
    suite: LEGS,
    test: 'a tool with an activity of its own, of the agent usual gives the model an error if its activity fails for good',
  },
  {
    defence: 'Legs: a step that asks people as well is left to the workflow',
    file: 'activities/leg/run-leg.ts',
    edits: [['next.machine.length === 0 || people.length > 0', 'next.machine.length === 0']],
    suite: LOOP,
    test: 'a leg leaves what people, sub-agents or activities of their own are to do to the workflow',
  },
  {
    defence: 'Legs: one that must leave begins no other call',
    file: 'activities/leg/leg-calls.ts',
    edits: [['progress.hasBegun && mustLeave()', 'false']],
    suite: LOOP,
    test: 'a leg begins no more calls of a step once its worker shuts down',
  },
  {
    defence: 'Legs: one hands over where its workflow continues as new',
    file: 'activities/leg/run-leg.ts',
    edits: [['!isFirst && ref.endsSoon === true', 'false']],
    suite: LOOP,
    test: 'a leg hands over before the next model step when its workflow continues as new',
  },
];
