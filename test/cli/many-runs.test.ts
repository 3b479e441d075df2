import type { ApiClient } from '../../cli/api/client.js';
import type { Cli } from '../../cli/cli.js';
import { watchStates } from '../../cli/commands/run/follow.js';
import { EXIT } from '../../cli/exit-codes.js';
import { CliFailure } from '../../cli/failure.js';
import { createProgram } from '../../cli/program.js';

const away = (): CliFailure => new CliFailure('It is away.', EXIT.unavailable);

/** The command line over an API that answers so. */
async function run(
  args: string[],
  post: (path: string) => Promise<unknown>,
  get?: () => Promise<unknown>,
  remove?: () => Promise<unknown>,
) {
  const printed: string[] = [];
  const noted: string[] = [];
  let exitCode: number = EXIT.done;
  const cli = {
    env: {},
    now: () => 0,
    connect: () => ({ post, get, delete: remove }) as unknown as ApiClient,
    exitWith: (code: number) => (exitCode = code),
    terminal: {
      print: (text: string) => printed.push(text),
      note: (text: string) => noted.push(text),
    },
  } as unknown as Cli;
  await createProgram(cli, { version: '0' }).parseAsync(args, { from: 'user' });
  return { outcomes: JSON.parse(printed.join('\n')) as object[], noted, exitCode };
}

it('an act on many runs that breaks off says what was done', async () => {
  const asked: string[] = [];
  const post = async (path: string): Promise<unknown> => {
    asked.push(path);
    if (path.includes('/r2/')) throw new CliFailure('No.', EXIT.failed, 'run_ended');
    if (path.includes('/r3/')) throw away();
    return Promise.resolve({ result: 'stopped' });
  };
  const args = ['run', 'stop', 'r1', 'r2', 'r3', 'r4', 'r5', '-o', 'json'];
  const { outcomes, noted, exitCode } = await run(args, post);
  expect(outcomes).toEqual([
    { runId: 'r1', outcome: 'stopped' },
    { runId: 'r2', outcome: 'No.', code: 'run_ended' },
    { runId: 'r3', outcome: 'It is away.', code: 'unavailable' },
  ]);
  expect({ exitCode, asked: asked.length }).toEqual({ exitCode: 69, asked: 3 });
  expect(noted).toEqual(['2 more runs were not tried.']);
});

it('an act on one run fails with the reason', async () => {
  const post = () => Promise.reject(away());
  await expect(run(['run', 'stop', 'r1', '-o', 'json'], post)).rejects.toThrow('It is away.');
});

/** States of a run whose looks end so; `undefined`: the server is away. */
async function watch(looks: (string | undefined)[]): Promise<string[]> {
  jest.useFakeTimers();
  try {
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
  } finally {
    jest.useRealTimers();
  }
}

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

it('who waits for a batch does not notice that a server is replaced', async () => {
  const batch = { id: 'b1', act: 'stop', total: 2, done: 0, skipped: 0, failed: 0, problems: [] };
  const looks = [undefined, undefined, { ...batch, status: 'completed', done: 2 }];
  const get = () => {
    const next = looks.shift();
    return next === undefined ? Promise.reject(away()) : Promise.resolve(next);
  };
  const post = () => Promise.resolve({ ...batch, status: 'running' });
  const args = ['run', 'stop', '-q', 'agent=lab', '-y', '-o', 'json'];
  const { outcomes, exitCode } = await run(args, post, get);
  expect({ outcomes, exitCode }).toMatchObject({ outcomes: { status: 'completed' }, exitCode: 0 });
});

it('a person with more conversations than one request erases is erased by as many as it takes', async () => {
  let left = 3_000;
  const erase = (): Promise<unknown> => {
    left -= 100;
    const none = { batches: 0, workflows: 0, rows: 0, entries: 0, bytes: 0 };
    return Promise.resolve({ complete: left === 0, conversations: 100, sessions: 100, ...none });
  };
  const args = ['user', 'delete', 'ann', '--yes', '-o', 'jsonl'];
  const { outcomes, exitCode } = await run(args, erase, undefined, erase);
  expect({ outcomes, exitCode }).toMatchObject({
    outcomes: { complete: true, conversations: 3_000 },
    exitCode: EXIT.done,
  });
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

  /** Decides it at a terminal, or in a script. */
  async function decide(args: string[], isInteractive: boolean) {
    const [sent, shown]: [object[], string[]] = [[], []];
    const post = (path: string, body: object): Promise<object> => {
      sent.push({ path, body: JSON.parse(JSON.stringify(body)) as object });
      return Promise.resolve({ result: 'stored', sequence: 1, resumed: true });
    };
    const cli = {
      env: {},
      now: () => 0,
      connect: () => ({ post, get: () => Promise.resolve(session) }) as unknown as ApiClient,
      exitWith: () => undefined,
      terminal: {
        print: () => undefined,
        isInteractive,
        ask: () => Promise.resolve(true),
        style: (_style: string, text: string) => text,
        note: (text: string) => shown.push(text),
      },
    } as unknown as Cli;
    const program = createProgram(cli, { version: '0' });
    const failed = await program
      .parseAsync(['approval', 'approve', ...args, '-o', 'json'], { from: 'user' })
      .then(() => undefined)
      .catch((error: unknown) => (error as Error).message);
    return { sent, shown: shown.join('\n'), failed };
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
