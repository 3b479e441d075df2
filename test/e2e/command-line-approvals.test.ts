import type { AuditEntryReply } from '../../protocol/audit.js';
import type { OperatorRunDetail, OperatorSession } from '../../protocol/operator.js';
import { useCommandLine } from '../support/command-line.js';
import { ask, runLab, sessionOf } from '../support/lab-run.js';
import { useProduct } from '../support/product.js';
import { until } from '../support/until.js';

const product = useProduct();
const { helix, read } = useCommandLine(product);
const say = (script: object[]) => runLab(product, script);
const describeRun = (runId: string) => read<OperatorRunDetail>('run', 'describe', runId);

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
