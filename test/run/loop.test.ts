import fc from 'fast-check';
import type { At, CallKind, CallRef, Hint, Next, OpenCalls } from '../../protocol/run.js';
import { createLoop, type Host, type Loop, type View } from '../../run/loop.js';

const ref = (toolCallId: string, kind: CallKind): CallRef => ({ toolCallId, toolName: 't', kind });
const CALLS = [ref('s', 'server'), ref('d', 'subagent'), ref('a', 'approval'), ref('c', 'client')];
const at = (version: number, next: Next): At => ({ version, sequence: version, next });
const open = (version: number, lists: Partial<OpenCalls> = {}): At =>
  at(version, { do: 'open', step: 1, ...lists });
const done = (version: number): At => at(version, { do: 'done', step: 2, status: 'completed' });
const FIRST = at(0, { do: 'model', step: 1, isFirst: true });

/** Creates a host that lists requests and lets the test give each reply. */
function createStage(more: Partial<Host> = {}, first = FIRST) {
  const begun: string[] = [];
  const replies = new Map<string, (said: At) => void>();
  const faults = new Map<string, (error: Error) => void>();
  let look = (): void => undefined;
  let now = 0;
  let timer: { at: number; fire: () => void } | undefined;
  let view: View | undefined;
  const ask = (name: string): Promise<At> => {
    begun.push(name);
    return new Promise((resolve, reject) => {
      replies.set(name, resolve);
      faults.set(name, reject);
    });
  };
  const host: Host = {
    now: () => now,
    until: (holds, ms) =>
      new Promise((resolve) => {
        look = () => {
          if (holds()) resolve(true);
        };
        const fire = (): void => {
          resolve(false);
        };
        timer = ms === undefined ? undefined : { at: now + ms, fire };
        look();
      }),
    changed: () => {
      look();
    },
    model: ({ step }) => ask(`model ${String(step)}`),
    call: ({ toolCallId }) => ask(toolCallId),
    child: ({ toolCallId }) => ask(toolCallId),
    end: () => ask('end'),
    look: () => ask('look'),
    show: (shown) => {
      view = shown;
    },
    ...more,
  };
  const loop: Loop = createLoop(host, { maxSteps: 5 }, first);
  const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  return {
    loop,
    begun,
    running: loop.run(),
    settled,
    view: () => view,
    dueInMs: () => (timer === undefined ? undefined : timer.at - now),
    reply: async (name: string, said: At): Promise<void> => {
      replies.get(name)?.(said);
      await settled();
    },
    fail: async (name: string): Promise<void> => {
      faults.get(name)?.(new Error(name));
      await settled();
    },
    hint: async (hint?: Hint | null): Promise<void> => {
      loop.look(hint);
      await settled();
    },
    pass: async (ms: number): Promise<void> => {
      now += ms;
      if (timer !== undefined && timer.at <= now) timer.fire();
      await settled();
    },
  };
}

const LISTS = { machine: ['s'], children: ['d'], people: ['a', 'c'], calls: CALLS };

describe('the loop of a run', () => {
  it('begins what the record says, all at once, and each piece of work once', async () => {
    const { begun, reply, hint, running, view, loop } = createStage();
    expect(begun).toEqual(['model 1']);
    await reply('model 1', open(5, LISTS));
    expect(begun).toEqual(['model 1', 'd', 's']);
    expect(view()?.people.map(({ toolCallId }) => toolCallId)).toEqual(['a', 'c']);
    // The record names the call again, but it is in progress or has just ended.
    await reply('s', open(5, LISTS));
    expect(begun).toHaveLength(3);
    await hint();
    await reply('look', open(5, LISTS));
    expect(begun.slice(3)).toEqual(['look']);
    await reply('d', at(8, { do: 'model', step: 2 }));
    expect(begun.slice(4)).toEqual(['model 2']);
    await reply('model 2', done(9));
    expect((await running).next).toMatchObject({ status: 'completed' });
    expect(loop.known()).toEqual({ version: 9, sequence: 9 });
  });

  it('begins a step only once every call before it has replied', async () => {
    const { begun, reply } = createStage();
    const calls = [...CALLS, ref('t', 'server')];
    await reply('model 1', open(5, { machine: ['s', 't'], calls }));
    await reply('s', at(8, { do: 'model', step: 2 }));
    expect(begun).toEqual(['model 1', 's', 't']);
    await reply('t', at(8, { do: 'model', step: 2 }));
    expect(begun.slice(3)).toEqual(['model 2']);
  });

  it('what is older than what it knows changes nothing, but that a run is over; the last to reply makes it look', async () => {
    const { begun, reply, running, loop } = createStage();
    await reply('model 1', open(5, LISTS));
    await reply('s', open(7, { people: ['a'] }));
    await reply('d', open(6, LISTS));
    expect(begun).toEqual(['model 1', 'd', 's', 'look']);
    expect(loop.known()).toEqual({ version: 7, sequence: 7 });
    // The reply is as old as the one before, so the loop does not look again.
    await reply('look', open(6, LISTS));
    expect(begun).toHaveLength(4);
    void running.then(({ next }) => begun.push(next.do));
    const restored = createStage();
    await restored.reply('model 1', open(5, { machine: ['s'], calls: CALLS }));
    await restored.reply('s', done(2));
    expect((await restored.running).next).toMatchObject({ do: 'done' });
  });

  it('begins a step that it has not committed again only once it is asked to look', async () => {
    const { begun, reply, hint, loop, settled } = createStage();
    await reply('model 1', at(5, { do: 'model', step: 1 }));
    expect(begun).toEqual(['model 1']);
    await hint();
    await reply('look', at(6, { do: 'model', step: 1 }));
    expect(begun.slice(1)).toEqual(['look', 'model 1']);
    // The step began too early: people were asked meanwhile, and then their answers came.
    await reply('model 1', open(7, { people: ['a'], calls: CALLS }));
    loop.adopt(at(8, { do: 'model', step: 1 }));
    await settled();
    expect(begun.slice(3)).toEqual(['model 1']);
  });

  it('waits no longer for a sub-agent whose call the record has settled, and says which it left', async () => {
    const left: string[] = [];
    const { begun, reply, hint, running } = createStage({
      over: (children) => left.push(...children.map(({ toolCallId }) => toolCallId)),
    });
    await reply('model 1', open(5, { children: ['d'], calls: CALLS }));
    await hint();
    await reply('look', at(8, { do: 'model', step: 2 }));
    expect(begun.slice(1)).toEqual(['d', 'look', 'model 2']);
    const calls = [ref('e', 'subagent')];
    await reply('model 2', at(9, { do: 'open', step: 2, children: ['e'], calls }));
    await hint();
    await reply('look', done(10));
    expect((await running).next).toMatchObject({ do: 'done' });
    expect(left).toEqual(['e']);
  });

  it('a hint begins work at once, and the reply to that says how the record is', async () => {
    const { begun, reply, hint, view } = createStage();
    await reply('model 1', open(5, { people: ['a', 'c'], calls: CALLS }));
    await hint({ at: open(7, { machine: ['a'] }) });
    expect(begun.slice(1)).toEqual(['a']);
    expect(view()?.people.map(({ toolCallId }) => toolCallId)).toEqual(['c']);
    // The record contradicts the hint: people are asked as before, and the next hint counts.
    await reply('a', open(5, { people: ['a', 'c'], calls: CALLS }));
    await reply('look', open(5, { people: ['a', 'c'], calls: CALLS }));
    expect(view()?.people.map(({ toolCallId }) => toolCallId)).toEqual(['a', 'c']);
    await hint({ at: open(8, { machine: ['a'] }) });
    expect(begun.slice(2)).toEqual(['look', 'a']);
    await reply('a', open(8, { people: ['c'] }));
    await hint({ at: at(10, { do: 'model', step: 2 }) });
    expect(begun.slice(4)).toEqual(['model 2']);
  });

  it('a hint does not say whether the model has to hand in its result', async () => {
    const asked: Next[] = [];
    const replies = [Promise.resolve(open(5, { people: ['a'], calls: CALLS }))];
    const { hint, settled } = createStage({
      model: (next) => {
        asked.push(next);
        return replies.pop() ?? new Promise(() => undefined);
      },
    });
    await settled();
    await hint({ at: at(7, { do: 'model', step: 2, mustFinish: true }) });
    expect(asked[1]).toEqual({ do: 'model', step: 2 });
  });

  it('a hint that is older, of another step, or of an unknown call changes nothing; without one it looks', async () => {
    const { begun, reply, hint } = createStage();
    await reply('model 1', open(5, { people: ['a'], calls: CALLS }));
    await hint({ at: open(5, { machine: ['a'] }) });
    expect(begun).toEqual(['model 1']);
    const other: Next = { do: 'open', step: 2, machine: ['a'] };
    const unknown = open(9, { machine: ['a', 'x'] });
    const none = open(9, { machine: [] });
    const given = [at(9, other), done(9), unknown, none].map((said) => ({ at: said }));
    const unnumbered = { at: { ...open(9, { machine: ['a'] }), version: '9' } } as unknown as Hint;
    const hints = [undefined, null, {}, unnumbered, ...given];
    for (const each of hints) {
      const asked = begun.length;
      await hint(each);
      expect(begun.slice(asked)).toEqual(['look']);
      await reply('look', open(5, { people: ['a'], calls: CALLS }));
    }
  });

  it('of hints that come together the newest counts, in whatever order they come', async () => {
    const older = { at: open(7, { machine: ['a'] }) };
    const newer = { at: open(9, { machine: ['a', 'c'] }) };
    for (const [one, other] of [
      [older, newer],
      [newer, older],
    ]) {
      const { begun, reply, hint, loop } = createStage();
      await reply('model 1', open(5, { people: ['a', 'c'], calls: CALLS }));
      loop.look(one);
      await hint(other);
      expect(begun.slice(1)).toEqual(['a', 'c']);
      // The reply does not know yet what the newest hint told.
      await reply('a', open(8, { people: ['c'] }));
      expect(begun.slice(3)).toEqual(['look']);
    }
  });

  it('a tool whose wait is over before its reply that it waits is executed again', async () => {
    const { begun, reply, hint, view } = createStage();
    await reply('model 1', open(5, { machine: ['s'], people: ['a'], calls: CALLS }));
    await hint({ at: open(8, { machine: ['s'] }) });
    await reply('s', open(7, { asleep: ['s'], people: ['a'] }));
    expect(begun.slice(1)).toEqual(['s', 'look']);
    await reply('look', open(8, { machine: ['s'], people: ['a'], calls: CALLS }));
    expect(begun.slice(3)).toEqual(['s']);
    await reply('s', open(9, { asleep: ['s'], people: ['a'] }));
    expect(view()?.asleep).toEqual([ref('s', 'server')]);
  });

  it('whatever a hint carries, nothing ends by it and nothing throws', async () => {
    const { reply, loop, running, settled } = createStage({ look: () => Promise.resolve(open(5)) });
    await reply('model 1', open(5, { people: ['a'], calls: CALLS }));
    let isOver = false;
    void running.then(() => (isOver = true));
    const Step = fc.oneof(fc.constant(1), fc.constant(2), fc.anything());
    const Garbage = fc.record({
      version: fc.oneof(fc.integer({ min: 6 }), fc.anything()),
      next: fc.oneof(
        fc.anything(),
        fc.record({
          do: fc.constantFrom('open', 'model', 'end', 'done'),
          step: Step,
          machine: fc.oneof(fc.array(fc.anything()), fc.anything()),
          mustFinish: fc.anything(),
          status: fc.anything(),
        }),
      ),
    });
    fc.assert(
      fc.property(fc.oneof(fc.anything(), fc.record({ at: Garbage })), (given) => {
        loop.look(given as Hint);
      }),
      { numRuns: 2_000 },
    );
    await settled();
    expect(isOver).toBe(false);
  });

  it('a hint of a step beyond the cap makes it look, since no hint ends a run', async () => {
    const { begun, reply, hint } = createStage();
    await reply('model 1', at(5, { do: 'open', step: 5, people: ['a'], calls: CALLS }));
    await hint({ at: at(7, { do: 'model', step: 6 }) });
    expect(begun.slice(1)).toEqual(['look']);
  });

  it('looks once its first step has replied: a sub-agent has no record before, unless that was ended', async () => {
    const { begun, reply, hint } = createStage();
    await hint();
    expect(begun).toEqual(['model 1']);
    await reply('model 1', open(5, { people: ['a'], calls: CALLS }));
    expect(begun).toEqual(['model 1', 'look']);
    const unbegun = createStage();
    unbegun.loop.look();
    await unbegun.hint({ ended: true });
    expect(unbegun.begun).toEqual(['model 1', 'look']);
  });

  it('begins with a look if it has seen its record, and with a wait if it begins later', async () => {
    expect(createStage({}, open(3, { dueInMs: 0 })).begun).toEqual(['look']);
    const { begun, dueInMs, pass } = createStage({}, at(0, { do: 'open', step: 0, dueInMs: 500 }));
    expect([begun, dueInMs()]).toEqual([[], 500]);
    await pass(500);
    expect(begun).toEqual(['look']);
  });

  it('waits as long as the record says, and then looks', async () => {
    const { begun, reply, pass, dueInMs } = createStage();
    await reply('model 1', open(5, { people: ['a'], dueInMs: 1_000, calls: CALLS }));
    expect(dueInMs()).toBe(1_000);
    await pass(400);
    await pass(600);
    expect(begun.slice(1)).toEqual(['look']);
    // The store's clock is behind, so the loop waits a minimum time before it looks again.
    await reply('look', open(5, { people: ['a'], dueInMs: 3, calls: CALLS }));
    expect(dueInMs()).toBe(10);
  });

  it('executes many calls in waves, and asks for the lists that were left out once the last is over', async () => {
    const ids = Array.from({ length: 25 }, (_, n) => `t${String(n)}`);
    const calls = ids.map((id) => ref(id, 'server'));
    const { begun, reply } = createStage();
    await reply('model 1', open(5, { machine: ids, calls }));
    expect(begun).toHaveLength(1 + 10);
    for (const [n, id] of ids.entries()) await reply(id, open(6 + n, { isPartial: true }));
    expect(begun.slice(1)).toEqual([...ids, 'look']);
  });

  it('approved calls do not wait for others that last, and nothing waits for sub-agents', async () => {
    const ids = Array.from({ length: 12 }, (_, n) => `t${String(n)}`);
    const calls = [...ids.map((id) => ref(id, 'server')), ...CALLS];
    const { begun, reply, hint, view } = createStage();
    await reply('model 1', open(5, { machine: ids, children: ['d'], people: ['a'], calls }));
    await hint({ at: open(6, { machine: ['a'] }) });
    expect(begun.slice(1)).toEqual(['d', ...ids.slice(0, 10), 'a']);
    // The calls that had no place yet stay known.
    await reply('t0', open(7, { isPartial: true }));
    expect(begun.slice(-1)).toEqual(['t10']);
    await reply('a', open(8, { isPartial: true }));
    expect(view()?.people).toEqual([]);
  });

  it('keeps the lists that a partial reply leaves out, and looks if nothing is at work', async () => {
    const { begun, reply, view } = createStage();
    const calls = [...CALLS, ref('t', 'server')];
    await reply('model 1', open(5, { machine: ['s', 't'], people: ['a'], calls }));
    await reply('s', open(6, { isPartial: true }));
    expect(view()).toMatchObject({ working: [{ toolCallId: 't' }], people: [{ toolCallId: 'a' }] });
    await reply('t', open(7, { isPartial: true }));
    expect(begun.slice(1)).toEqual(['s', 't', 'look']);
    const later = createStage();
    await later.reply('model 1', open(5, { machine: ['s', 't'], calls }));
    await later.reply('s', at(6, { do: 'open', step: 2, isPartial: true }));
    expect(later.begun.slice(1)).toEqual(['s', 't', 'look']);
  });

  it('looks once for a call that it does not know, and begins it if the look names it', async () => {
    for (const calls of [undefined, CALLS]) {
      const { begun, reply } = createStage();
      await reply('model 1', open(5, { machine: ['s'] }));
      expect(begun.slice(1)).toEqual(['look']);
      await reply('look', open(5, { machine: ['s'], ...(calls && { calls }) }));
      expect(begun.slice(2)).toEqual(calls ? ['s'] : []);
    }
  });

  it('a run that is over waits for its calls, unless its model waits for the provider', async () => {
    const { reply, running, hint, settled } = createStage();
    let isOver = false;
    void running.then(() => (isOver = true));
    await reply('model 1', at(5, { do: 'model', step: 2 }));
    await hint();
    await reply('look', at(9, { do: 'done', step: 0, status: 'superseded' }));
    expect(isOver).toBe(false);
    await hint({ at: at(99, { do: 'model', step: 2 }) });
    await hint({ ended: true });
    await settled();
    expect(isOver).toBe(true);
    // The record has the steps of the run that replaced this one.
    expect((await running).next.step).toBe(1);
  });

  it('fails with what a host throws once no other work is in progress, and waits for no sub-agent', async () => {
    const { reply, running, fail, begun } = createStage();
    let failed: unknown;
    running.catch((error: unknown) => (failed = error));
    const calls = [...CALLS, ref('t', 'server'), ref('u', 'server')];
    await reply('model 1', open(5, { machine: ['s', 't', 'u'], children: ['d'], calls }));
    await fail('s');
    await fail('u');
    expect(failed).toBeUndefined();
    await reply('t', open(9, { machine: ['s'], children: ['d'] }));
    expect(failed).toEqual(new Error('s'));
    expect(begun).toEqual(['model 1', 'd', 's', 't', 'u']);
  });

  it('fails at once if nothing else is in progress', async () => {
    const { running, fail } = createStage();
    const failed = expect(running).rejects.toThrow('model 1');
    await fail('model 1');
    await failed;
  });

  it('one that has failed still looks, begins nothing, and ends as it was ended meanwhile', async () => {
    const { reply, running, fail, hint, begun } = createStage();
    const calls = [...CALLS, ref('t', 'server')];
    await reply('model 1', open(5, { machine: ['s', 't'], calls }));
    await fail('s');
    await hint();
    await reply('look', open(6, { machine: ['s', 't'], people: ['a'], calls }));
    await hint();
    await reply('look', done(7));
    expect(begun).toEqual(['model 1', 's', 't', 'look', 'look']);
    await reply('t', done(8));
    expect((await running).next).toMatchObject({ do: 'done' });
  });

  it('ends at its cap', async () => {
    const { begun, reply, running } = createStage();
    await reply('model 1', at(5, { do: 'model', step: 6 }));
    expect(begun.slice(1)).toEqual(['end']);
    await reply('end', done(6));
    expect((await running).next).toMatchObject({ status: 'completed' });
  });

  it('pauses between two pieces of work only while none is in progress, and shows what is known then', async () => {
    const paused: number[] = [];
    const shown: Next[] = [];
    const stage = createStage({
      between: ({ version }) => {
        paused.push(version);
        // Meanwhile an operator denies the call.
        if (version === 6) stage.loop.adopt(open(7, { people: ['c'] }));
        return Promise.resolve();
      },
      show: ({ next }) => shown.push(next),
    });
    await stage.settled();
    await stage.reply('model 1', open(5, LISTS));
    await stage.reply('d', open(5, { ...LISTS, children: [] }));
    await stage.reply('s', open(6, { people: ['a'] }));
    expect(paused.slice(0, 3)).toEqual([0, 5, 6]);
    expect(shown.map((next) => next.do === 'open' && next.people)).not.toContainEqual(['a']);
  });

  it('a leg begins where no work is in progress, with the facts about the open calls', async () => {
    const asked: At[] = [];
    const { begun, reply, hint, view } = createStage({
      leg: (given) => {
        asked.push(given);
        const { next } = given;
        return next.do === 'open' && next.machine ? () => leg('leg') : undefined;
      },
    });
    const leg = (name: string): Promise<At> => {
      begun.push(name);
      return new Promise(() => undefined);
    };
    const [s] = CALLS;
    await reply('model 1', open(5, { children: ['d'], people: ['a'], calls: CALLS }));
    const { length } = asked;
    await hint();
    await reply('look', open(5, { children: ['d'], people: ['a'] }));
    expect(asked).toHaveLength(length);
    await reply('d', open(6, { machine: ['s'] }));
    expect(asked.at(-1)?.next).toMatchObject({ machine: ['s'], calls: [s] });
    expect(begun.slice(1)).toEqual(['d', 'look', 'leg']);
    expect(view()?.working).toEqual([s]);
  });

  it('a leg begins again on a hint, after one that the record does not bear out', async () => {
    const { begun, reply, hint, settled } = createStage({
      leg: ({ next }) =>
        next.do === 'open' && next.machine
          ? () => {
              begun.push('leg');
              return new Promise((resolve) => legs.push(resolve));
            }
          : undefined,
    });
    const legs: ((said: At) => void)[] = [];
    await reply('model 1', open(6, { people: ['a'], calls: CALLS }));
    for (const begins of [1, 2]) {
      await hint({ at: open(7, { machine: ['a'] }) });
      expect(begun.filter((name) => name === 'leg')).toHaveLength(begins);
      legs.at(-1)?.(open(6, { people: ['a'] }));
      await settled();
      await reply('look', open(6, { people: ['a'] }));
    }
  });

  it('hands over what its host does not take, with what is known of the calls', async () => {
    const takes = ({ do: what }: Next): boolean => what === 'model';
    const { reply, running } = createStage({ takes });
    await reply('model 1', open(5, { people: ['a'], calls: CALLS }));
    expect((await running).next).toMatchObject({ people: ['a'], calls: [{ toolCallId: 'a' }] });
    const idle = createStage({ takes: () => true, mayBegin: () => false });
    await idle.reply('model 1', open(5, { machine: ['s'], calls: CALLS }));
    const over = await Promise.race([idle.running, idle.settled()]);
    expect(over).toMatchObject({ next: { machine: ['s'], calls: [{ toolCallId: 's' }] } });
  });
});
