import { createTurnFrames } from '../../../ai-sdk/turns/turn-frames.js';
import type { TurnSpan } from '../../../ai-sdk/turns/turn-progress.js';
import { parseFrames } from '../../support/chat-fetch.js';
import { createFakeRuntime } from '../../support/fake-runtime.js';
import { FakeSession } from '../../support/fake-session.js';

interface Viewer {
  text: string;
  /** How often it was given some of it. */
  writes: number;
  error: unknown;
  leave: () => void;
  /** A lazy viewer takes more from now on. */
  resume: () => void;
  done: Promise<void>;
}

/** An active turn, its viewers, and how often its log is followed. */
function createTurn(profile: TurnSpan['profile'] = 'common') {
  const runtime = createFakeRuntime();
  const session = new FakeSession('s1');
  runtime.sessions.set('s1', session);
  session.begin({ role: 'user', id: 'u1', parts: [{ type: 'text', text: 'go' }] });
  const followed = { ever: 0, now: 0 };
  /** What reading, and letting the log go, wait for. */
  const waits = { read: Promise.resolve(), letGo: Promise.resolve() };
  const reader = {
    read: async (...args: Parameters<typeof runtime.streamManager.read>) => {
      await waits.read;
      return runtime.streamManager.read(...args);
    },
    follow: async function* (...args: Parameters<typeof runtime.streamManager.follow>) {
      followed.ever += 1;
      followed.now += 1;
      try {
        yield* runtime.streamManager.follow(...args);
      } finally {
        await waits.letGo;
        followed.now -= 1;
      }
    },
  };
  /** Joins now; takes frames as they come, unless it is lazy. */
  const view = (isLazy = false, more: Partial<TurnSpan> = {}): Viewer => {
    const { messageId, sequence, turnStartSequence: from } = session.record;
    const until = { kind: 'live' as const, after: sequence };
    const span: TurnSpan = {
      sessionId: 's1',
      messageId,
      from,
      until,
      isTail: false,
      profile,
      ...more,
    };
    const leave = new AbortController();
    let resume = (): void => undefined;
    const interest = new Promise<void>((resolve) => (resume = resolve));
    const viewer: Viewer = {
      text: '',
      writes: 0,
      error: undefined,
      resume,
      leave: () => {
        leave.abort();
      },
      done: Promise.resolve(),
    };
    const read = async (): Promise<void> => {
      for await (const text of createTurnFrames(reader, span, leave.signal)) {
        viewer.text += text;
        viewer.writes += 1;
        if (isLazy && viewer.text.includes('text-start')) await interest;
      }
    };
    viewer.done = read().catch((error: unknown) => {
      viewer.error = error;
    });
    return viewer;
  };
  return { session, followed, waits, reader, view };
}

function createGate(): { opened: Promise<void>; open: () => void } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return {
    opened,
    open: () => {
      open();
    },
  };
}

/** Lets everything happen that can. */
async function soon(): Promise<void> {
  for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

function textOf({ text }: Viewer): string {
  return parseFrames(text)
    .map(({ part }) => ('delta' in part ? part.delta : ''))
    .join('');
}

describe('viewers of an active turn', () => {
  it('viewers of an active turn share one reader, and each receives all of it', async () => {
    const { session, followed, view } = createTurn();
    session.step();
    const viewers = [view()];
    for (const word of ['a ', 'b ', 'c ', 'd ']) {
      await soon();
      session.say(word);
      viewers.push(view());
    }
    await soon();
    session.say('end');
    session.commit();
    session.end();
    await Promise.all(viewers.map(({ done }) => done));
    expect(viewers.map(textOf)).toEqual(viewers.map(() => 'a b c d end'));
    for (const { text } of viewers) expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
    expect(followed).toEqual({ ever: 1, now: 0 });
  });

  const other = { key: 'other', judges: () => false, mayDecide: () => Promise.resolve(true) };
  it.each<Partial<TurnSpan>>([
    { profile: 'v7' },
    { toolParts: 'static' },
    { showsSubAgents: true },
    { viewer: other },
    { isTail: true },
  ])('a viewer that reads otherwise shares nothing with them: %j', async (more) => {
    const { session, followed, view } = createTurn();
    session.step();
    const viewers = [view(), view(), view(false, more)];
    await soon();
    expect(followed.now).toBe(2);
    session.end();
    await Promise.all(viewers.map(({ done }) => done));
  });

  it('viewers of an active turn receive its end, also one that joins while the shared reader closes', async () => {
    const { session, waits, view } = createTurn();
    session.step();
    const first = view();
    await soon();
    session.say('all');
    const [letGo, replay, catchUp] = [createGate(), createGate(), createGate()];
    waits.letGo = letGo.opened;
    waits.read = replay.opened;
    const second = view();
    session.commit();
    session.end();
    await soon();
    waits.read = catchUp.opened;
    replay.open();
    await soon();
    letGo.open();
    await soon();
    catchUp.open();
    await soon();
    second.leave();
    await Promise.all([first.done, second.done]);
    expect(second.text).toContain('[DONE]');
    expect(textOf(second)).toBe('all');
  });

  it('what arrives in one turn of the event loop is one write to each viewer, adjacent deltas one event', async () => {
    const { session, view } = createTurn();
    session.step();
    const viewers = [view(), view()];
    await soon();
    const before = viewers.map(({ writes }) => writes);
    for (const word of ['a ', 'b ', 'c ', 'd ']) {
      session.say(word);
      // The follower of the log takes each word on its own.
      for (let jobs = 0; jobs < 50; jobs += 1) await Promise.resolve();
    }
    await soon();
    expect(viewers.map(({ writes }, n) => writes - (before[n] ?? 0))).toEqual([1, 1]);
    for (const { text } of viewers) {
      const last = parseFrames(text).at(-1);
      expect(last).toMatchObject({ part: { delta: 'a b c d ' } });
      expect(last?.id).toBe(String(session.entries.at(-1)?.sequence));
    }
    for (const { leave } of viewers) leave();
    await Promise.all(viewers.map(({ done }) => done));
  });

  it('a shared reader follows a turn until its last viewer has left', async () => {
    const { session, followed, view } = createTurn();
    const [first, second] = [view(), view()];
    await soon();
    first.leave();
    await first.done;
    expect(followed.now).toBe(1);
    session.step();
    session.say('still here');
    await soon();
    expect(textOf(second)).toBe('still here');
    second.leave();
    await second.done;
    await soon();
    expect(followed).toEqual({ ever: 1, now: 0 });
  });

  it('a viewer that reads nothing is cut, and others do not wait for it', async () => {
    const { session, view } = createTurn();
    session.step();
    session.say('go ');
    const [slow, quick] = [view(true), view()];
    await soon();
    for (let count = 0; count < 30; count += 1) {
      session.say('x'.repeat(100_000));
      await soon();
    }
    expect(textOf(quick)).toHaveLength(3_000_003);
    slow.resume();
    await slow.done;
    expect(slow.error).toMatchObject({ name: 'StreamBrokenError' });
    quick.leave();
    await quick.done;
  });

  it('all viewers are cut when parts that they received are withdrawn', async () => {
    const { session, view } = createTurn();
    session.step();
    session.say('half');
    const viewers = [view(), view()];
    await soon();
    session.discard();
    await Promise.all(viewers.map(({ done }) => done));
    for (const { error } of viewers) expect(error).toMatchObject({ name: 'StreamBrokenError' });
  });

  it('viewers share no reader with others that received different parts', async () => {
    const { session, followed, view } = createTurn('v7');
    session.step();
    session.commit([{ id: 'c1', name: 'echo' }]);
    session.settle('c1', { output: 1 });
    const early = view();
    await soon();
    session.step();
    session.say('half');
    await soon();
    // The attempt's parts are gone from the log already, and no viewer knows it yet.
    const attempt = session.entries.splice(
      session.entries.findIndex(({ writer }) => writer === 'm2'),
    );
    const late = view();
    await soon();
    expect(followed.ever).toBe(2);
    session.entries.push(...attempt);
    session.discard();
    session.step();
    session.say('whole');
    session.commit();
    session.end();
    await Promise.all([early.done, late.done]);
    expect(early.text).toContain('reset-step');
    expect(late.text).not.toContain('reset-step');
    expect(textOf(late)).toBe('whole');
  });
});
