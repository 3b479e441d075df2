import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RunEvent } from '../../cli/commands/run/index.js';
import { EXIT } from '../../cli/failure.js';
import type { AuditEntryReply } from '../../protocol/audit.js';
import type {
  OperatorForkReply,
  OperatorRunDetail,
  OperatorSession,
  UsageRow,
} from '../../protocol/operator.js';
import { EvalCase } from '../../testing/eval/case.js';
import { untilEnded } from '../support/chat-client.js';
import { startCommand, useCommandLine } from '../support/command-line.js';
import { ask, runLab, sessionOf } from '../support/lab-run.js';
import { useLocalProduct } from '../support/local-product.js';
import { until } from '../support/until.js';

const product = useLocalProduct();
const { helix, read } = useCommandLine(product);
const say = (script: object[]) => runLab(product, script);
const describeRun = (runId: string) => read<OperatorRunDetail>('run', 'describe', runId);

it('helix-temporal usage report sums up what runs have used, with what they cost, also for a spreadsheet', async () => {
  // No other test asks this agent.
  const agent = 'lab-leg';
  await runLab(product, [{ say: 'hello' }], undefined, agent);
  const report = ['usage', 'report', '--by', 'agent', '--since', '24h'];
  const row = await until('the run is counted', async () => {
    const rows = await read<UsageRow[]>(...report);
    return rows.find((each) => each.agent === agent);
  });
  expect(row.runs).toBe(1);
  expect(row.costMicroUsd).toBeGreaterThan(0);
  const { stdout } = await helix([...report, '-o', 'csv', '--json', 'agent,runs,costMicroUsd']);
  expect(stdout).toMatch(/^agent,runs,costMicroUsd\n/);
  expect(stdout).toContain(`\n${agent},1,${String(row.costMicroUsd)}\n`);
  const byTenant = await helix(['usage', 'report', '--by', 'tenant,model']);
  expect(byTenant.stdout).toMatch(/^TENANT +DAY/);
  expect((await helix(['usage', 'report', '--since', 'soon'])).code).toBe(64);
});

describe('helix-temporal run', () => {
  const call = (id: string, tool: string, args: object) => ({ calls: [{ tool, id, args }] });

  it('run show --events prints what the log has of a turn, page by page', async () => {
    const runId = await say([{ say: 'x'.repeat(300), deltas: 300 }]);
    await runLab(product, [{ say: 'the second turn' }], sessionOf(runId), 'lab', 'u2');
    const events = await read<RunEvent[]>('run', 'show', '--events', runId);
    const texts = events.flatMap(({ message }) =>
      message.type === 'text_delta' ? [String(message['delta'])] : [],
    );
    expect(texts.join('')).toBe('x'.repeat(300));
    expect(events.map(({ sequence }) => sequence)).toEqual(
      events.map(({ sequence }) => sequence).sort((a, b) => a - b),
    );
    expect(events.at(-1)?.message.type).toBe('stream_end');
    const table = await helix(['run', 'show', '--events', runId]);
    expect(table.stdout).toMatch(/^SEQUENCE +TIME +STEP/);
    expect((await helix(['run', 'show', '--events', '--follow', runId])).code).toBe(64);
  });

  it('eval record freezes a conversation as the server has it, for eval run', async () => {
    const script = [{ ...call('c1', 'charge', { amount: 5 }), say: 'May I?' }, { say: 'the end' }];
    const id = sessionOf(await say(script));
    const url = `${product.url}/api/chat/${id}/pending/c1`;
    const headers = { 'content-type': 'application/json' };
    await fetch(url, { method: 'POST', headers, body: JSON.stringify({ approved: true }) });
    await untilEnded(product.url, id);
    const frozen = await read<unknown>('eval', 'record', id);
    expect(EvalCase.parse(frozen)).toMatchObject({
      name: id,
      agent: 'lab',
      turns: [
        {
          steps: 2,
          text: 'the end',
          calls: [
            {
              tool: 'charge',
              input: { amount: 5 },
              decision: { approved: true },
              result: { output: { charged: 5 } },
            },
          ],
        },
      ],
    });
    const folder = await mkdtemp(join(tmpdir(), 'helix-record-'));
    const file = join(folder, 'case.json');
    expect(await helix(['eval', 'record', id, '-o', file])).toMatchObject({ code: 0, stdout: '' });
    expect(JSON.parse(await readFile(file, 'utf8'))).toMatchObject({ name: id, agent: 'lab' });
    expect((await helix(['eval', 'record', id, '-o', folder])).code).toBe(EXIT.usage);
    await rm(folder, { recursive: true });
    const unknown = await helix(['eval', 'record', 'no-such-session']);
    expect([unknown.code, unknown.stdout]).toEqual([EXIT.failed, '']);
  });

  it('run fork continues a copy after a step; what was done before is not done again', async () => {
    const runId = await say([
      call('c1', 'remember', { key: 'k', value: 1 }),
      call('c2', 'echo', { value: 2 }),
      { say: 'the end' },
    ]);
    const fork = (...args: string[]) => read<OperatorForkReply>('run', 'fork', runId, ...args);
    const copy = await fork('--step', '1', '--session', 'the-fork');
    expect(copy.sessionId).toBe('the-fork');
    expect((await helix(['run', 'watch', copy.runId, '--timeout', '100s'])).code).toBe(0);
    const steps = async (id: string) =>
      (await read<{ steps: { step: number }[] }>('run', 'describe', id)).steps.map(
        ({ step }) => step,
      );
    expect(await steps(copy.runId)).toEqual([2, 3]);
    const shown = await helix(['session', 'show', copy.sessionId]);
    expect(shown.stdout).toContain('the end');
    const whole = await fork('--step', '0');
    expect((await helix(['run', 'watch', whole.runId, '--timeout', '30d'])).code).toBe(0);
    expect(await steps(whole.runId)).toEqual([1, 2, 3]);
    // Forks leave the original conversation unchanged.
    expect(await steps(runId)).toEqual([1, 2, 3]);
    for (const [step, code] of [
      ['3', 'nothing_to_do'],
      ['4', 'checkpoint_not_found'],
    ] as const) {
      const refused = await helix(['run', 'fork', runId, '--step', step]);
      expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining(code) });
    }
    const taken = await helix(['run', 'fork', runId, '--step', '1', '--session', copy.sessionId]);
    expect(taken.stderr).toContain('session_exists');
    expect((await helix(['run', 'fork', runId])).code).toBe(64);
  });

  it('an act with --idempotency-key is done once', async () => {
    const runId = await say([call('c1', 'echo', { value: 2 }), { say: 'the end' }]);
    for (const act of [
      ['run', 'fork', runId, '--step', '1'],
      ['agent', 'start', 'lab', 'hello'],
    ]) {
      const args = [...act, '--idempotency-key', 'once'];
      const first = await read<OperatorForkReply>(...args);
      expect(await read<OperatorForkReply>(...args)).toEqual(first);
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
    expect((await helix(['run', 'watch', second, '--timeout', '100s'])).code).toBe(2);
    await helix(['run', 'stop', second]);
    const third = await rerun('resume', second);
    expect((await helix(['run', 'watch', third, '--timeout', '100s'])).code).toBe(0);
  });
});

interface Asked {
  call: string;
  toolName: string;
  input: unknown;
  kind: string;
}

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
