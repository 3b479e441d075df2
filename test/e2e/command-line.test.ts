import type { AuditEntryReply } from '../../protocol/audit.js';
import type {
  OperatorLease,
  OperatorRun,
  OperatorRunDetail,
  OperatorSession,
  OperatorWorker,
} from '../../protocol/operator.js';
import { startCommand, useCommandLine } from '../support/command-line.js';
import { ask, runLab, sessionOf } from '../support/lab-run.js';
import { useProduct } from '../support/product.js';
import { until } from '../support/until.js';

const product = useProduct();

const { helix, read } = useCommandLine(product);
const say = (script: object[], sessionId?: string) => runLab(product, script, sessionId);
const describeRun = (runId: string) => read<OperatorRunDetail>('run', 'describe', runId);
const isListed = (runId: string, ...filter: string[]) =>
  until(`${runId} is listed`, async () => {
    const runs = await read<OperatorRun[]>('run', 'list', ...filter);
    return runs.find((run) => run.runId === runId);
  });

describe('helix-temporal run', () => {
  it('run list prints runs as a table, JSON and lines, and only the fields that are wanted', async () => {
    const runId = await say([{ say: 'hello' }]);
    expect(await isListed(runId, '--status', 'completed')).toMatchObject({ agent: 'lab', runId });
    const table = await helix(['run', 'list']);
    expect(table.stdout).toMatch(/^RUN +STATUS +AGENT/);
    expect(table.stdout).toContain(runId);
    const lines = await helix(['run', 'list', '-o', 'jsonl', '--json', 'runId,status']);
    for (const line of lines.stdout.trim().split('\n')) {
      expect(Object.keys(JSON.parse(line) as object)).toEqual(['runId', 'status']);
    }
    const nothing = await helix(['run', 'list', '-o', 'none']);
    expect(nothing).toMatchObject({ code: 0, stdout: '' });
    const bad = await helix(['run', 'list', '--json', 'name']);
    expect(bad).toMatchObject({ code: 64, stdout: '', stderr: expect.stringContaining('runId') });
  });

  it('run list and run count take a query of Temporal', async () => {
    const runId = await say([{ say: 'hello' }]);
    const query = `AgentSession = '${sessionOf(runId)}'`;
    // Temporal counts by search attributes, which it indexes a moment late.
    await isListed(runId, '-q', `${query} AND AgentStatus = 'completed'`);
    const counts = await read<{ total: number; groups: object[] }>('run', 'count', '-q', query);
    expect(counts).toEqual({ total: 1, groups: [{ value: 'completed', count: 1 }] });
    const byTenant = ['run', 'count', '-q', query, '--group-by', 'tenant'];
    expect(await read(...byTenant)).toEqual({ total: 1, groups: [{ value: '', count: 1 }] });
    const wrong = await helix(['run', 'list', '-q', 'Nothing = what']);
    expect(wrong.code).toBe(1);
    expect(wrong.stderr).toMatch(/\(invalid_query\) .*Nothing/);
    for (const odd of ["'", '\u0000', '\ud800', '%', '💥'.repeat(200)]) {
      const refused = await helix(['run', 'list', '-q', odd]);
      expect([odd, refused.code, refused.stderr]).toEqual([
        odd,
        1,
        expect.stringContaining('(invalid_query)'),
      ]);
    }
  });

  it('run show prints steps and calls, follows a run to its end, and ends at once on Ctrl-C', async () => {
    const runId = await say([ask('charge', { amount: 5 }), { say: 'paid' }]);
    const shown = await helix(['run', 'show', runId]);
    expect(shown.stdout).toBe('step 1\n  ? charge c1 waiting\nwaiting_approval\n');
    const env = { HELIX_URL: product.url };
    const left = startCommand(['run', 'show', '--follow', runId], { env });
    const following = startCommand(['run', 'show', '--follow', runId], { env });
    await until('both follow', () =>
      [left, following].every(({ stdout }) => stdout().includes('waiting_approval')),
    );
    left.kill('SIGINT');
    expect((await left.ended).code).toBe(130);
    await helix(['approval', 'approve', `${sessionOf(runId)}::c1`, '--reason', 'fine']);
    const { code, stdout } = await following.ended;
    expect(code).toBe(0);
    expect(stdout).toContain('✓ charge c1 done approved by anonymous (fine)');
    expect(stdout).toMatch(/step 2\n(.*\n)*completed\n$/);
  });

  it('a changing command needs ids or a filter, and a yes', async () => {
    const nothing = await helix(['run', 'stop']);
    expect(nothing).toMatchObject({ code: 64, stderr: expect.stringContaining('-q') });
    for (const empty of ['', '  ']) {
      expect((await helix(['run', 'stop', '-y', '-q', empty])).code).toBe(64);
    }
    const [one, two, other] = await Promise.all(
      [1, 2, 3].map(() => say([ask('charge', { amount: 5 })])),
    );
    const query = [one, two].map((id = '') => `AgentSession = '${sessionOf(id)}'`).join(' OR ');
    await Promise.all([one, two].map((id = '') => isListed(id, '--status', 'waiting_approval')));

    const stop = ['run', 'stop', '-q', query];
    const unasked = await helix(stop);
    expect(unasked).toMatchObject({ code: 64, stdout: '' });
    expect(unasked.stderr).toContain(one ?? '');
    expect(unasked.stderr).toContain('give -y');
    const dry = await helix([...stop, '--dry-run', '-o', 'json']);
    const listed = (JSON.parse(dry.stdout) as OperatorRun[]).map(({ runId }) => runId);
    expect(listed.sort()).toEqual([one, two].sort());
    expect((await describeRun(one ?? '')).status).toBe('waiting_approval');

    const stopped = await helix([...stop, '-y', '-o', 'json']);
    expect(stopped.stderr).toBe('2 done, 0 skipped, 0 refused, 0 left.\n');
    const outcome = expect.stringMatching(/^(stopping|ended)$/);
    expect(JSON.parse(stopped.stdout)).toMatchObject([{ outcome }, { outcome }]);
    for (const id of [one, two]) {
      await until('it has stopped', async () => {
        return (await describeRun(id ?? '')).status === 'interrupted';
      });
    }
    expect((await describeRun(other ?? '')).status).toBe('waiting_approval');
    // A second stop leaves ended runs alone.
    const again = await helix([...stop, '-y', '-o', 'json']);
    expect(again).toMatchObject({ code: 0, stdout: '[]\n' });
  });

  it('run retry and run resume continue what was stopped', async () => {
    const rerun = async (act: string, runId: string): Promise<string> => {
      const [{ outcome } = { outcome: '' }] = await read<{ outcome: string }[]>(
        'run',
        act,
        runId,
        '--reason',
        'it is needed after all',
      );
      expect(outcome).toMatch(/^continues as /);
      return outcome.replace('continues as ', '');
    };
    const first = await say([ask('charge', { amount: 5 }), { say: 'paid' }]);
    await helix(['run', 'stop', first]);
    const second = await rerun('retry', first);
    expect(second).not.toBe(first);
    expect((await helix(['run', 'watch', second, '--timeout', '30s'])).code).toBe(2);
    await helix(['run', 'stop', second]);
    const third = await rerun('resume', second);
    expect((await helix(['run', 'watch', third, '--timeout', '30s'])).code).toBe(0);
  });
});

describe('helix-temporal worker list', () => {
  it('it lists who asks for work, and the leases', async () => {
    const all = await until('the worker has asked each of its queues', async () => {
      const workers = await read<OperatorWorker[]>('worker', 'list');
      return workers.find(({ takes }) => takes.length === 3);
    });
    expect(all).toEqual({
      identity: expect.stringMatching(/\d+@/),
      takes: ['runs', 'steps', 'tools'],
      lastPollAt: expect.any(Number),
    });
    await until('the worker holds a lease', async () => {
      const leases = await read<OperatorLease[]>('worker', 'list', '--leases');
      return leases.some(({ state }) => state === 'held');
    });
    // A path reaches a file that is named like a subcommand.
    const file = startCommand(['worker', './list']);
    expect(await file.ended).toMatchObject({ code: 64, stdout: '' });
  });
});

interface Asked {
  call: string;
  toolName: string;
  input: unknown;
  kind: string;
}

describe('helix-temporal approval', () => {
  const waiting = async (runId: string): Promise<Asked> =>
    until('the call is listed', async () => {
      const calls = await read<Asked[]>('approval', 'list', '--limit', '100');
      return calls.find(({ call }) => call.startsWith(`${sessionOf(runId)}::`));
    });

  it('approval lists, describes and approves a call, with another input', async () => {
    const runId = await say([ask('charge', { amount: 5, note: '\u001b[2Jfree' }), { say: 'paid' }]);
    const { call } = await waiting(runId);
    expect(call).toBe(`${sessionOf(runId)}::c1`);
    const shown = await helix(['approval', 'describe', call]);
    expect(shown.stdout).toContain('"amount": 5');
    expect(shown.stdout).not.toContain('\u001b');
    const approve = ['approval', 'approve', call, '--input', '@-', '--reason', 'half of it'];
    expect((await helix(approve, '{"amount":')).code).toBe(64);
    const approved = await helix(approve, '{"amount":3}');
    expect(approved).toMatchObject({ code: 0, stdout: expect.stringContaining('continues') });
    expect((await helix(['run', 'watch', runId])).code).toBe(0);
    const run = await describeRun(runId);
    expect(run.steps[0]?.calls[0]?.decision).toMatchObject({
      approved: true,
      edited: true,
      reason: 'half of it',
    });
    const again = await helix(['approval', 'deny', call, '--reason', 'too late']);
    expect(again).toMatchObject({ code: 1, stderr: expect.stringMatching(/\((\w+)\)/) });
  });

  it('approval deny needs a reason, and the agent gets it', async () => {
    const runId = await say([ask('charge', { amount: 5 }), { say: 'well', quote: true }]);
    const { call } = await waiting(runId);
    expect((await helix(['approval', 'deny', call])).code).toBe(64);
    expect((await helix(['approval', 'deny', call, '--reason', 'no money'])).code).toBe(0);
    expect((await helix(['run', 'watch', runId])).code).toBe(0);
    const session = await read<OperatorSession>('session', 'export', sessionOf(runId));
    expect(JSON.stringify(session.messages)).toContain('no money');
  });

  it('approval answers a client tool, and extends the deadline of one', async () => {
    const runId = await say([ask('locate'), { say: 'found' }]);
    const { call, kind } = await waiting(runId);
    expect(kind).toBe('client');
    expect((await helix(['approval', 'answer', call])).code).toBe(64);
    const extended = await helix(['approval', 'extend', call, '--by', '2h']);
    expect(extended).toMatchObject({ code: 1, stderr: expect.stringContaining('(no_deadline)') });
    expect((await helix(['approval', 'answer', call, '--result', '{"at":"home"}'])).code).toBe(0);
    expect((await helix(['run', 'watch', runId])).code).toBe(0);
  });
});

it('session shows and erases a conversation', async () => {
  const runId = await say([{ say: 'hello \u001b[31mred' }]);
  const id = sessionOf(runId);
  const shown = await helix(['session', 'show', id]);
  expect(shown.stdout).toContain('hello \\u001b[31mred');
  expect((await helix(['session', 'delete', id])).code).toBe(64);
  expect((await helix(['session', 'delete', id, '-y'])).stdout).toContain('is erased: ');
  const gone = await helix(['session', 'show', id]);
  expect(gone).toMatchObject({ code: 1, stderr: expect.stringContaining('(not_found)') });
});

it('agent list names the agents that people may talk to', async () => {
  const agents = await read<object[]>('agent', 'list');
  expect(agents).toContainEqual(
    expect.objectContaining({ name: 'support', isDefault: true, pauses: [], held: 0 }),
  );
});

it('audit lists acts with the way they came, and verifies the trail', async () => {
  const runId = await say([ask('charge', { amount: 5 })]);
  const denied = ['approval', 'deny', `${sessionOf(runId)}::c1`, '--reason', 'no'];
  expect((await helix(denied)).code).toBe(0);
  const entry = await until('the act is listed', async () => {
    const entries = await read<AuditEntryReply[]>('audit', 'list', '--action', 'deny');
    return entries.find(({ target }) => target.sessionId === sessionOf(runId));
  });
  expect(entry).toMatchObject({ via: 'cli', action: 'deny' });
  expect(await read('audit', 'list', '--actor', 'unknown')).toEqual([]);
  expect((await read<{ ok: boolean }>('audit', 'verify')).ok).toBe(true);
  const exported = await helix(['audit', 'export', '--since', '1h']);
  expect(exported.stdout).toContain(entry.id);
});

it('user exports and erases what is stored about a person', async () => {
  const runId = await say([{ say: 'hello' }]);
  const exported = await helix(['user', 'export', '--owner', 'anonymous']);
  expect(exported.code).toBe(0);
  const lines = exported.stdout.trim().split('\n');
  for (const line of lines) JSON.parse(line);
  expect(exported.stdout).toContain(sessionOf(runId));
  expect((await helix(['user', 'delete', 'anonymous'])).code).toBe(64);
  expect((await helix(['user', 'delete', '-y'])).code).toBe(64);
  expect((await helix(['user', 'delete', 'ann', '--owner', 'bob', '-y'])).code).toBe(64);
  const erased = await read<{ complete: boolean; conversations: number }>(
    'user',
    'delete',
    'anonymous',
    '-y',
  );
  expect(erased.complete).toBe(true);
  expect(erased.conversations).toBeGreaterThan(0);
  expect((await helix(['session', 'show', sessionOf(runId)])).code).toBe(1);
});
