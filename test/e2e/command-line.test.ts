import type {
  OperatorForkReply,
  OperatorLease,
  OperatorRun,
  OperatorRunDetail,
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

  it('run fork continues a copy of a run in legs after a step', async () => {
    const echo = (id: string) => ({ calls: [{ tool: 'echo', id, args: { value: id } }] });
    const script = [echo('c1'), echo('c2'), { say: 'the end' }];
    const runId = await runLab(product, script, undefined, 'lab-leg');
    const copy = await read<OperatorForkReply>('run', 'fork', runId, '--step', '1');
    expect((await helix(['run', 'watch', copy.runId, '--timeout', '100s'])).code).toBe(0);
    const { steps } = await describeRun(copy.runId);
    expect(steps.map(({ step }) => step)).toEqual([2, 3]);
    const shown = await helix(['session', 'show', copy.sessionId]);
    expect(shown.stdout).toContain('the end');
  });
});

it('helix-temporal worker list says who asks for work, and the leases', async () => {
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
