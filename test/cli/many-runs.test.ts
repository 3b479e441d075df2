import type { ApiClient } from '../../cli/api/client.js';
import { restOf, watchStates } from '../../cli/commands/run/follow.js';
import { CliFailure, EXIT } from '../../cli/failure.js';
import { RUN_STATUSES } from '../../protocol/run.js';
import { runCli, type FakeApi } from './fake-cli.js';

/** The handler of Ctrl-C. */
let interrupt: (() => void) | undefined;

const away = (): CliFailure => new CliFailure('It is away.', EXIT.unavailable);

/** Runs a command with output as JSON. */
async function run(args: string[], post: FakeApi['post'], get?: FakeApi['get']) {
  const onInterrupts = (stop?: () => void) => (interrupt = stop);
  const { printed, ...ended } = await runCli(
    [...args, '-o', 'json'],
    { post, get },
    { onInterrupts },
  );
  return { outcomes: JSON.parse(printed) as object[], ...ended };
}

const RUNS = Array.from({ length: 12 }, (_, n) => `r${String(n + 1)}`);
const STOP = ['run', 'stop'];

it('an act on many runs that breaks off says what was done', async () => {
  const asked: string[] = [];
  const post = async (path: string): Promise<unknown> => {
    asked.push(path);
    if (path.includes('/r2/')) throw new CliFailure('No.', EXIT.failed, 'stale_run');
    if (path.includes('/r3/')) throw away();
    return Promise.resolve({ result: 'stopped' });
  };
  const { outcomes, noted, exitCode } = await run([...STOP, ...RUNS], post);
  expect(outcomes.slice(0, 3)).toEqual([
    { runId: 'r1', outcome: 'stopped' },
    { runId: 'r2', outcome: 'No.', code: 'stale_run' },
    { runId: 'r3', outcome: 'It is away.', code: 'unavailable' },
  ]);
  expect(exitCode).toBe(69);
  expect(asked.length).toBeLessThan(8);
  const [done, left] = [asked.length - 2, RUNS.length - asked.length].map(String);
  expect(noted).toEqual([`${done ?? ''} done, 0 skipped, 2 refused, ${left ?? ''} left.`]);
});

it('of what a filter finds a few are asked for together, until Ctrl-C; who was faster is no failure', async () => {
  let [open, max, asked] = [0, 0, 0];
  const post = async (path: string): Promise<unknown> => {
    [open, asked] = [open + 1, asked + 1];
    max = Math.max(max, open);
    await new Promise((resolve) => setImmediate(resolve));
    open -= 1;
    if (path.includes('/r1/')) throw new CliFailure('Answered.', EXIT.failed, 'stale_run');
    if (path.includes('/r2/')) throw new CliFailure('No.', EXIT.notAllowed, 'not_allowed');
    if (path.includes('/r6/')) interrupt?.();
    return { result: 'stopped' };
  };
  const get = () =>
    Promise.resolve({ runs: RUNS.map((runId) => ({ runId, agent: 'lab', status: 'running' })) });
  const { outcomes, noted, exitCode } = await run([...STOP, '--agent', 'lab', '-y'], post, get);
  expect(outcomes).toHaveLength(asked);
  expect({ max, exitCode }).toEqual({ max: 4, exitCode: EXIT.interrupted });
  expect(asked).toBeLessThan(RUNS.length);
  const [done, left] = [asked - 2, RUNS.length - asked].map(String);
  expect(noted).toEqual([`${done ?? ''} done, 1 skipped, 1 refused, ${left ?? ''} left.`]);
});

it('a filter is asked for the runs that an act is for, and one that did nothing is skipped', async () => {
  const asked: (string | undefined)[] = [];
  const get = (_: string, call?: { query: { status?: string } }): Promise<unknown> => {
    const { status = '' } = call?.query ?? {};
    asked.push(status);
    // The list is late: by now this run has completed.
    const runs = [
      { runId: `of-${status}`, status },
      { runId: `late-${status}`, status: 'completed' },
    ];
    return Promise.resolve({ runs });
  };
  const repeated: string[] = [];
  const post = (path: string): Promise<unknown> => {
    repeated.push(path);
    return Promise.resolve(path.includes('aborted') ? { result: 'nothing' } : { runId: 'next' });
  };
  const { noted } = await run(['run', 'retry', '--agent', 'lab', '-y'], post, get);
  expect(asked).toEqual(['failed', 'interrupted', 'aborted'].sort((a, b) => order(a) - order(b)));
  expect(repeated).toEqual(asked.map((status) => `/api/operator/runs/of-${status ?? ''}/retry`));
  expect(noted).toEqual(['2 done, 1 skipped, 0 refused, 0 left.']);
});

it('an act on what a filter finds leaves sub-agents to their roots', async () => {
  const asked: string[] = [];
  const post = (path: string): Promise<unknown> => {
    asked.push(path);
    return Promise.resolve({ result: 'stopped' });
  };
  const runs = [
    { runId: 'root', status: 'running' },
    { runId: 'child', status: 'running', subAgent: true },
  ];
  await run([...STOP, '--agent', 'lab', '-y'], post, () => Promise.resolve({ runs }));
  expect(asked).toEqual(['/api/operator/runs/root/stop']);
});

const order = (status: string): number => RUN_STATUSES.findIndex((each) => each === status);

it('approvals that a filter finds are decided as they were shown; unseen ones with approvers are left out', async () => {
  const sent: object[] = [];
  const post = (path: string, body: object): Promise<unknown> => {
    sent.push({ path, ...(JSON.parse(JSON.stringify(body)) as object) });
    return Promise.resolve({ result: 'stored' });
  };
  const asked = (n: number, more: object) => ({
    toolCallId: `c${String(n)}`,
    toolName: 'charge',
    kind: 'approval',
    approvalId: `s1:1-a::c${String(n)}`,
    inputHash: `h${String(n)}`,
    mayDecide: true,
    ...more,
  });
  const pending = [
    asked(1, {}),
    asked(2, { toolName: 'echo' }),
    asked(3, { kind: 'client' }),
    asked(4, { approvers: ['boss'] }),
    asked(5, { mayDecide: false, mayWithdraw: true }),
    // A sub-agent's call: the filter finds its root run in `s1`, but not the one in `s2`.
    asked(6, { approvalId: 's1.1:1-b::c6' }),
  ];
  const others = pending.map((each) => ({ ...each, approvalId: `s2:1-a::${each.toolCallId}` }));
  const sessions = [
    { sessionId: 's1', run: { runId: 's1:1-a' }, agent: 'lab', owner: 'ann', pending },
    { sessionId: 's2', run: { runId: 's2:1-a' }, agent: 'lab', owner: 'ann', pending: others },
  ];
  const get = (path: string) =>
    Promise.resolve(
      path.includes('waiting')
        ? { sessions }
        : { runs: [{ runId: 's1:1-a', status: 'waiting_approval' }] },
    );
  const filter = ['--tool', 'charge', '--agent', 'lab', '--reason', 'x', '-y'];
  const { noted } = await run(['approval', 'deny', ...filter], post, get);
  const named = (n: number, approvalId = `s1:1-a::c${String(n)}`) => ({
    path: `/api/operator/waiting/s1/c${String(n)}`,
    approved: false,
    reason: 'x',
    approvalId,
    inputHash: `h${String(n)}`,
  });
  expect(sent).toEqual([named(1), named(5), named(6, 's1.1:1-b::c6')]);
  expect(noted[0]).toContain('1 more match');
  sent.length = 0;
  const all = await run(['approval', 'approve', '--tool', 'echo', '-y'], post, get);
  expect([sent.length, all.exitCode]).toEqual([2, 0]);
});

it('an act on one run fails with the reason', async () => {
  const post = () => Promise.reject(away());
  await expect(run(['run', 'stop', 'r1'], post)).rejects.toThrow('It is away.');
});

/** Watches a run with these looks and returns the shown states; `undefined`: the server is away. */
async function watch(looks: (string | undefined)[]): Promise<string[]> {
  jest.useFakeTimers();
  const get = (): Promise<unknown> => {
    const status = looks.shift();
    return status === undefined ? Promise.reject(away()) : Promise.resolve({ status });
  };
  const seen: string[] = [];
  const watching = (async () => {
    for await (const { status } of watchStates({ get } as unknown as ApiClient, 'r1')) {
      seen.push(status);
    }
  })();
  watching.catch(() => seen.push('failed'));
  await jest.advanceTimersByTimeAsync(60_000);
  return seen;
}

it('a run rests with a code for each way of resting', () => {
  const rests = RUN_STATUSES.map((status) => [status, restOf(status)]);
  expect(Object.fromEntries(rests)).toEqual({
    waiting_approval: EXIT.waits,
    waiting_tool: EXIT.waits,
    completed: EXIT.done,
    failed: EXIT.failed,
    interrupted: EXIT.stopped,
    aborted: EXIT.stopped,
  });
});

it.each([
  ['completed', EXIT.done],
  ['waiting_tool', EXIT.waits],
  ['running', EXIT.timeout],
])('who waits for a run that is %s gets the code %d', async (status, code) => {
  const get = () => Promise.resolve({ runId: 'r1', status, steps: [], pending: [] });
  const args = ['run', 'watch', 'r1', '--timeout', '20ms', '-o', 'json'];
  const ended = runCli(args, { get }).catch((error: unknown) => error as CliFailure);
  expect((await ended).exitCode).toBe(code);
});

it('who watches a run does not notice that a server is replaced', async () => {
  const gone = Array.from({ length: 5 }, () => undefined);
  expect(await watch(['running', ...gone, 'running', ...gone, 'completed'])).toEqual([
    'running',
    'completed',
  ]);
});

it('a server that stays away, or was never there, is reported', async () => {
  const gone = Array.from({ length: 6 }, () => undefined);
  expect(await watch(['running', ...gone, 'completed'])).toEqual(['running', 'failed']);
  expect(await watch([undefined, 'completed'])).toEqual(['failed']);
});

it('a person with more conversations than one request erases is erased by as many as it takes', async () => {
  let left = 3_000;
  const erase = (): Promise<unknown> => {
    left -= 100;
    const none = { workflows: 0, rows: 0, entries: 0, bytes: 0 };
    return Promise.resolve({ complete: left === 0, conversations: 100, sessions: 100, ...none });
  };
  const args = ['user', 'delete', 'ann', '--yes', '-o', 'jsonl'];
  const { printed, exitCode } = await runCli(args, { delete: erase });
  expect(JSON.parse(printed)).toMatchObject({ complete: true, conversations: 3_000 });
  expect(exitCode).toBe(EXIT.done);
});

it('an erasure that gets nowhere is given up, and says so', async () => {
  jest.useFakeTimers();
  let asked = 0;
  const erase = (): Promise<unknown> => {
    asked += 1;
    const none = { conversations: 0, sessions: 0, workflows: 0, rows: 0, entries: 0, bytes: 0 };
    return Promise.resolve({ complete: false, ...none });
  };
  const ended = runCli(['user', 'delete', 'ann', '--yes'], { delete: erase });
  await jest.advanceTimersByTimeAsync(60_000);
  expect(await ended).toMatchObject({
    exitCode: EXIT.failed,
    printed: expect.stringContaining('Something is left'),
  });
  expect(asked).toBe(20);
});

describe('a call with approvers', () => {
  const question = {
    toolCallId: 'c1',
    approvalId: 's1:1-a::c1',
    inputHash: 'h1',
    input: { amount: 5 },
  };
  const hiddenMessages = [
    { id: 'h', role: 'user', parts: [{ type: 'text', text: 'pay mallory' }] },
  ];
  const session = {
    agent: 'bank',
    owner: 'ann',
    run: { runId: 's1:1-a', status: 'waiting_approval' },
    pending: [{ ...question, separateApprover: true }],
    hiddenMessages,
  };

  /** Decides the call at a terminal or in a script. */
  async function decide(args: string[], isInteractive: boolean) {
    const sent: object[] = [];
    const post = (path: string, body: object): Promise<object> => {
      sent.push({ path, body: JSON.parse(JSON.stringify(body)) as object });
      return Promise.resolve({ result: 'stored', sequence: 1, resumed: true });
    };
    const api = { post, get: () => Promise.resolve(session) };
    const ended = runCli(['approval', 'approve', ...args, '-o', 'json'], api, { isInteractive });
    const { noted, failed } = await ended.then(
      ({ noted }) => ({ noted, failed: undefined }),
      (error: unknown) => ({ noted: [], failed: (error as Error).message }),
    );
    return { sent, shown: noted.join('\n'), failed };
  }

  it('is shown before it is decided, with all that the model saw, and decided as it was shown', async () => {
    const { sent, shown, failed } = await decide(['s1::c1'], true);
    expect(failed).toBeUndefined();
    for (const part of ['"amount": 5', 'The model saw 1 message that', 'pay mallory']) {
      expect(shown).toContain(part);
    }
    const { approvalId, inputHash } = question;
    expect(sent).toMatchObject([{ body: { approved: true, approvalId, inputHash } }]);
  });

  it('is not decided by a script without the hash of what it has read', async () => {
    for (const args of [['s1::c1'], ['s1::c1', '-y']]) {
      const { sent, failed } = await decide(args, false);
      expect(failed).toContain('--input-hash');
      expect(sent).toEqual([]);
    }
    const named = await decide(['s1:1-b::c1', '--input-hash', 'h0'], false);
    expect(named.sent).toMatchObject([{ body: { approvalId: 's1:1-b::c1', inputHash: 'h0' } }]);
  });
});
