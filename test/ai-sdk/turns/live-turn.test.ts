import { StreamBrokenError } from '../../../ai-sdk/parts/errors.js';
import { createTurnFrames, toBroken } from '../../../ai-sdk/turns/turn-frames.js';
import type { TurnSpan } from '../../../ai-sdk/turns/turn-progress.js';
import type { LogEntry } from '../../../protocol/chunk.js';
import { formatModelWriter } from '../../../protocol/ids.js';
import type { NewCall } from '../../../store/contract/call-record.js';
import { createMemoryStores } from '../../../store/memory/index.js';
import { parseFrames } from '../../support/chat-fetch.js';
import { drive, newCall } from '../../support/session-driver.js';

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
async function createTurn(profile: TurnSpan['profile'] = 'common') {
  const stores = createMemoryStores();
  const session = drive(stores, 's1');
  const { runId, messageId } = await session.newRun();
  let writer = session.writer(runId, 1, 1);
  let batch = 0;
  await session.claim(writer);
  const followed = { ever: 0, now: 0 };
  /** What reading, and letting the log go, wait for; and which entries are not read. */
  const waits = { read: Promise.resolve(), letGo: Promise.resolve(), without: '', upTo: Infinity };
  const { streamManager } = stores;
  const reader = {
    read: async (...args: Parameters<typeof streamManager.read>) => {
      await waits.read;
      const entries = await streamManager.read(...args);
      const { without, upTo } = waits;
      return entries.filter(({ writer, sequence }) => writer !== without && sequence <= upTo);
    },
    follow: async function* (...args: Parameters<typeof streamManager.follow>) {
      followed.ever += 1;
      followed.now += 1;
      try {
        yield* streamManager.follow(...args);
      } finally {
        await waits.letGo;
        followed.now -= 1;
      }
    },
  };
  let position = 0;
  const record = async (): Promise<void> => {
    position = (await session.record())?.sequence ?? 0;
  };
  await record();
  /** Joins now; takes frames as they come, unless it is lazy. */
  const view = (isLazy = false, more: Partial<TurnSpan> = {}): Viewer => {
    const until = { kind: 'live' as const, after: position };
    const base = { sessionId: 's1', messageId, from: 0, until, isTail: false, profile };
    const span: TurnSpan = { ...base, ...more };
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
  return {
    followed,
    waits,
    view,
    frames: () => {
      const until = { kind: 'live' as const, after: position };
      const span: TurnSpan = { sessionId: 's1', messageId, from: 0, until, isTail: false, profile };
      return createTurnFrames(reader, span, new AbortController().signal);
    },
    say: async (text: string) => {
      await session.say(writer, (batch += 1), text);
      await record();
      return position;
    },
    request: async (toolCallId: string) => {
      const about = { agentId: 's1', agentType: 'lab', step: writer.step, timestamp: 1 };
      const call = { toolCallId, toolName: 'pay', approvalId: toolCallId, input: {} };
      const asked = { type: 'tool_approval_request' as const, ...about, ...call };
      await streamManager.append(writer, (batch += 1), [asked]);
      await record();
    },
    /** Commits the step, and with it the turn unless it has calls. */
    commit: async (...calls: NewCall[]) => {
      await session.commit(writer, { calls });
      await record();
    },
    /** Carries the step's call out, and claims the next step. */
    next: async (toolCallId: string) => {
      await session.carryOut(runId, writer.step, toolCallId, 1);
      writer = session.writer(runId, writer.step + 1, 1);
      batch = 0;
      await session.claim(writer);
      await record();
    },
    /** Takes the step's attempt for dead, and begins it again. */
    discard: async () => {
      writer = { ...writer, token: writer.token + 1 };
      batch = 0;
      await session.claim(writer);
      await record();
    },
  };
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
    const { followed, view, say, commit } = await createTurn();
    const viewers = [view()];
    for (const word of ['a ', 'b ', 'c ', 'd ']) {
      await soon();
      await say(word);
      viewers.push(view());
    }
    await soon();
    await say('end');
    await commit();
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
    const { followed, view, commit } = await createTurn();
    const viewers = [view(), view(), view(false, more)];
    await soon();
    expect(followed.now).toBe(2);
    await commit();
    await Promise.all(viewers.map(({ done }) => done));
  });

  it('viewers of an active turn receive its end, also one that joins while the shared reader closes', async () => {
    const { waits, view, say, commit } = await createTurn();
    const first = view();
    await soon();
    await say('all');
    const [letGo, replay, catchUp] = [createGate(), createGate(), createGate()];
    waits.letGo = letGo.opened;
    waits.read = replay.opened;
    const second = view();
    await commit();
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
    const { view, say } = await createTurn();
    const viewers = [view(), view()];
    await soon();
    const before = viewers.map(({ writes }) => writes);
    for (const word of ['a ', 'b ', 'c ', 'd ']) {
      await say(word);
      // The follower of the log takes each word on its own.
      for (let jobs = 0; jobs < 50; jobs += 1) await Promise.resolve();
    }
    await soon();
    expect(viewers.map(({ writes }, n) => writes - (before[n] ?? 0))).toEqual([1, 1]);
    for (const { text } of viewers) {
      const last = parseFrames(text).at(-1);
      expect(last).toMatchObject({ part: { delta: 'a b c d ' }, id: '4' });
    }
    for (const { leave } of viewers) leave();
    await Promise.all(viewers.map(({ done }) => done));
  });

  it('a shared reader follows a turn until its last viewer has left', async () => {
    const { followed, view, say } = await createTurn();
    const [first, second] = [view(), view()];
    await soon();
    first.leave();
    await first.done;
    expect(followed.now).toBe(1);
    await say('still here');
    await soon();
    expect(textOf(second)).toBe('still here');
    second.leave();
    await second.done;
    await soon();
    expect(followed).toEqual({ ever: 1, now: 0 });
  });

  it('a viewer that leaves while the log is read for it follows nothing', async () => {
    const turn = await createTurn();
    await turn.say('a ');
    const gate = createGate();
    turn.waits.read = gate.opened;
    const frames = turn.frames();
    await frames.next();
    const pending = frames.next();
    const left = frames.return?.();
    gate.open();
    await Promise.all([pending, left]);
    await soon();
    expect(turn.followed.now).toBe(0);
  });

  it('a viewer that leaves while it waits gets the end, and the others what follows', async () => {
    const { followed, view, frames, say } = await createTurn();
    const other = view();
    const left = frames();
    await left.next();
    const waiting = left.next();
    await soon();
    expect(await left.return?.()).toEqual({ done: true, value: undefined });
    expect(await waiting).toEqual({ done: true, value: undefined });
    expect(await left.next()).toEqual({ done: true, value: undefined });
    await say('still here');
    await soon();
    expect(textOf(other)).toBe('still here');
    other.leave();
    await other.done;
    await soon();
    expect(followed).toEqual({ ever: 1, now: 0 });
  });

  it('a viewer that reads nothing is cut after a while, and others do not wait for it', async () => {
    const { view, say } = await createTurn();
    await say('go ');
    const [slow, slower, quick] = [view(true), view(true), view()];
    await soon();
    // One result of a call has up to 1 MB, and a step makes several calls.
    const hear = async (times: number): Promise<void> => {
      for (let count = 0; count < times; count += 1) {
        await say('x'.repeat(200_000));
        await soon();
      }
    };
    await hear(15);
    slow.resume();
    await hear(15);
    expect(textOf(quick)).toHaveLength(6_000_003);
    slower.resume();
    await slower.done;
    expect([slow.error, slower.error]).toMatchObject([undefined, { name: 'StreamBrokenError' }]);
    expect(slow.text).toBe(quick.text);
    for (const viewer of [slow, quick]) viewer.leave();
    await Promise.all([slow.done, quick.done]);
  });

  it('all viewers are cut when parts that they received are withdrawn', async () => {
    const { view, say, discard } = await createTurn();
    await say('half');
    const viewers = [view(), view()];
    await soon();
    await discard();
    await Promise.all(viewers.map(({ done }) => done));
    for (const { error } of viewers) expect(error).toMatchObject({ name: 'StreamBrokenError' });
  });

  it('a viewer that joins behind a question for others does not get it', async () => {
    const { followed, waits, view, say, request } = await createTurn();
    const judges = { judges: () => true, mayDecide: () => Promise.resolve(false) };
    const viewer = { key: 'v', ...judges };
    const early = view(false, { viewer });
    await say('May I? ');
    await soon();
    const gate = createGate();
    waits.read = gate.opened;
    const late = view(false, { viewer });
    await request('c1');
    await soon();
    gate.open();
    await soon();
    expect(followed.ever).toBe(1);
    for (const each of [early, late]) {
      expect(each.text).toContain('"toolCallId":"c1"');
      expect(each.text).not.toContain('tool-approval-request');
      each.leave();
    }
    await Promise.all([early.done, late.done]);
  });

  it('a viewer that joins behind entries that are gone shares the reader, too', async () => {
    const { followed, waits, view, say, commit } = await createTurn();
    const early = view();
    waits.upTo = await say('half');
    await soon();
    const gate = createGate();
    waits.read = gate.opened;
    const late = view();
    await say(' gone');
    await soon();
    gate.open();
    await soon();
    expect(followed.ever).toBe(1);
    await say(' whole');
    await commit();
    await Promise.all([early.done, late.done]);
    expect([textOf(early), textOf(late)]).toEqual(['half gone whole', 'half whole']);
  });

  it('viewers share no reader with others that received different parts', async () => {
    const { followed, waits, view, say, commit, next, discard } = await createTurn('v7');
    await commit(newCall('c1', 'server'));
    const early = view();
    await soon();
    await next('c1');
    await say('half');
    await soon();
    // The attempt's parts are gone from the log already, and no viewer knows it yet.
    waits.without = formatModelWriter('s1', 2);
    const late = view();
    await soon();
    expect(followed.ever).toBe(2);
    await discard();
    waits.without = '';
    await say('whole');
    await commit();
    await Promise.all([early.done, late.done]);
    expect(early.text).toContain('reset-step');
    expect(late.text).not.toContain('reset-step');
    expect(textOf(late)).toBe('whole');
  });
});

it('a reply that breaks off tells its reader once to load it again', () => {
  const cause = new Error('Redis is away');
  const lost = toBroken(cause, 7);
  const [resync, ...rest] = lost.parts;
  expect(lost).toMatchObject({ message: 'the log cannot be followed', cause });
  expect(resync).toMatchObject({ type: 'data-stream-resync', data: { fromSequence: 7 } });
  expect(rest).toMatchObject([{ type: 'error' }]);
  const note = { type: 'data-note', data: 1 } as const;
  const told = [note, resync].filter((part) => part !== undefined);
  const withdrawn = toBroken(new StreamBrokenError('withdrawn', told, { cause }), 9);
  expect(withdrawn).toMatchObject({ message: 'withdrawn', cause });
  expect(withdrawn.parts).toEqual([...told, ...rest]);
});

describe('a replay of what is stored', () => {
  /** The frames of a turn with these entries, up to `upTo`. */
  async function replay(entries: LogEntry[], upTo: number, more: Partial<TurnSpan> = {}) {
    const reader = {
      ...createMemoryStores().streamManager,
      read: (_: string, after: number) =>
        Promise.resolve(entries.filter(({ sequence }) => sequence > after)),
    };
    const span: TurnSpan = {
      sessionId: 's1',
      messageId: 'msg-1',
      from: 0,
      isTail: false,
      until: { kind: 'stored', upTo },
      profile: 'common',
      ...more,
    };
    let text = '';
    for await (const frames of createTurnFrames(reader, span, new AbortController().signal))
      text += frames;
    return parseFrames(text);
  }

  const at = { agentId: 's1', agentType: 'lab', timestamp: 1, step: 1 };

  it('a reader that continues behind a question for others gets it with its denial', async () => {
    const about = { ...at, toolCallId: 'c1', toolName: 'pay', approvalId: 's1:1-a::c1' };
    const asked = { ...about, type: 'tool_approval_request' as const, input: {} };
    const denied = { ...about, type: 'tool_approval_response' as const, approved: false };
    const frames = await replay(
      [
        { sequence: 1, writer: 'm1', message: asked },
        { sequence: 2, writer: 'r', message: denied },
      ],
      2,
      {
        seenUpTo: 1,
        viewer: { key: '', judges: () => true, mayDecide: () => Promise.resolve(false) },
      },
    );
    expect(frames.slice(0, 4).map(({ part }) => part.type)).toEqual([
      'start',
      'start-step',
      'tool-approval-request',
      'tool-output-denied',
    ]);
  });

  it('the end has the id of all that was read, also behind entries that are gone', async () => {
    const said = { ...at, type: 'text_delta' as const, delta: 'Hi.' };
    const frames = await replay([{ sequence: 2, writer: 'm1', message: said }], 5);
    expect(frames.at(-1)).toMatchObject({ id: '5', part: { type: 'finish' } });
  });
});
