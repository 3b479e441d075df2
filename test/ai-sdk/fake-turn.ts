import fc from 'fast-check';
import type { FakeCall } from '../support/fake-call.js';
import type { FakeSession } from '../support/fake-session.js';

/** A turn as a list of things that happen in it, one after the other. */
export type Happening = (session: FakeSession) => void;

interface CallPlan {
  kind: 'server' | 'approval' | 'client';
  becomes: 'output' | 'error' | 'invalid';
  approved: boolean;
  reason: string | undefined;
  streamsInput: boolean;
}

interface StepPlan {
  /** An earlier attempt died after its first output. */
  hadDeadAttempt: boolean;
  contents: { kind: 'say' | 'think'; deltas: string[] }[];
  calls: CallPlan[];
}

const call = fc.record<CallPlan>({
  kind: fc.constantFrom('server', 'approval', 'client'),
  becomes: fc.constantFrom('output', 'output', 'error', 'invalid'),
  approved: fc.boolean(),
  reason: fc.constantFrom(undefined, 'too much'),
  streamsInput: fc.boolean(),
});

const step = fc.record<StepPlan>({
  hadDeadAttempt: fc.nat(4).map((n) => n === 0),
  contents: fc.array(
    fc.record({
      kind: fc.constantFrom('say', 'think'),
      deltas: fc.array(fc.constantFrom('a', 'bc ', '', 'déf'), { minLength: 1, maxLength: 4 }),
    }),
    { maxLength: 3 },
  ),
  calls: fc.array(call, { maxLength: 3 }),
});

/** Turns of all kinds whose parts are all in the transcript; they complete, are stopped or fail. */
export const turns: fc.Arbitrary<Happening[]> = fc
  .record({
    // Only a step with calls is followed by another one.
    steps: fc.array(
      step.filter(({ calls }) => calls.length > 0),
      { maxLength: 3 },
    ),
    last: step,
    ending: fc.constantFrom('completed', 'interrupted', 'failed'),
  })
  .map(({ steps, last, ending }) => {
    const happenings = [...steps, last].flatMap((plan, index) => toHappenings(plan, index + 1));
    const final = happenings.pop();
    // The last commit and the end are one transition.
    happenings.push((session) => {
      final?.(session);
      session.end(ending);
    });
    return happenings;
  });

function toHappenings({ hadDeadAttempt, contents, calls }: StepPlan, n: number): Happening[] {
  const named = calls.map((plan, index) => ({ plan, id: `c${String(n)}-${String(index)}` }));
  const happenings: Happening[] = [];
  if (hadDeadAttempt) happenings.push(dieHalfway);
  happenings.push((session) => {
    session.step();
  });
  for (const { kind, deltas } of contents) {
    if (kind === 'think')
      happenings.push((session) => {
        session.think(...deltas);
      });
    else
      happenings.push(
        ...deltas.map((delta) => (session: FakeSession) => {
          session.say(delta);
        }),
      );
  }
  for (const { id, plan } of named) if (plan.streamsInput) happenings.push(...streamInput(id));
  happenings.push((session) => {
    session.commit(named.map(({ id, plan }) => toCall(id, plan)));
  });
  const open = named.filter(({ plan }) => plan.becomes !== 'invalid');
  const own = open.filter(({ plan }) => plan.kind === 'server');
  const others = open.filter(({ plan }) => plan.kind !== 'server');
  happenings.push(...own.map(({ id, plan }) => settle(id, plan)));
  if (others.length === 0) return happenings;
  happenings.push((session) => {
    session.pause();
  });
  happenings.push(...others.map(({ id, plan }) => answer(id, plan)));
  happenings.push((session) => {
    session.resume();
  });
  const released = others.filter(({ plan }) => plan.kind === 'approval' && plan.approved);
  happenings.push(...released.map(({ id, plan }) => settle(id, plan)));
  return happenings;
}

function dieHalfway(session: FakeSession): void {
  session.step();
  session.say('half a sen');
  session.discard();
}

function streamInput(toolCallId: string): Happening[] {
  return [
    (session) => {
      session.model({ type: 'tool_arg_stream_start', toolCallId, toolName: 'tool' });
    },
    ...['{"of":', '1}'].map((delta) => (session: FakeSession) => {
      session.model({ type: 'tool_arg_stream_delta', toolCallId, delta });
    }),
  ];
}

function toCall(id: string, { kind, becomes }: CallPlan): FakeCall {
  const call = { id, name: 'tool', input: { of: 1 } };
  // A call that cannot be made is not put to a person.
  return becomes === 'invalid'
    ? { ...call, kind: 'server', invalid: 'Invalid input' }
    : { ...call, kind };
}

function settle(id: string, { becomes }: CallPlan): Happening {
  return (session) => {
    session.settle(id, becomes === 'error' ? { error: 'it broke' } : { output: { of: id } });
  };
}

function answer(id: string, plan: CallPlan): Happening {
  if (plan.kind === 'client') return settle(id, plan);
  return (session) => {
    session.decide(id, plan.approved, plan.approved ? undefined : plan.reason);
  };
}
