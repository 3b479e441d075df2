import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RunEvent } from '../../cli/commands/run/index.js';
import { EXIT } from '../../cli/failure.js';
import type { OperatorForkReply, UsageRow } from '../../protocol/operator.js';
import { EvalCase } from '../../testing/eval/case.js';
import { untilEnded } from '../support/chat-client.js';
import { useCommandLine } from '../support/command-line.js';
import { runLab, sessionOf } from '../support/lab-run.js';
import { useLocalProduct } from '../support/local-product.js';
import { until } from '../support/until.js';

const product = useLocalProduct();
const { helix, read } = useCommandLine(product);

describe('helix-temporal usage report', () => {
  it('it sums up what runs have used, with what they cost, also for a spreadsheet', async () => {
    await runLab(product, [{ say: 'hello' }]);
    const report = ['usage', 'report', '--by', 'agent', '--since', '24h'];
    const [row] = await until('the run is counted', async () => {
      const rows = await read<UsageRow[]>(...report);
      return rows.length > 0 && rows;
    });
    expect(row).toMatchObject({ agent: 'lab', runs: 1 });
    expect(row?.costMicroUsd).toBeGreaterThan(0);
    const { stdout } = await helix([...report, '-o', 'csv', '--json', 'agent,runs,costMicroUsd']);
    expect(stdout).toBe(`agent,runs,costMicroUsd\nlab,1,${String(row?.costMicroUsd)}\n`);
    const byTenant = await helix(['usage', 'report', '--by', 'tenant,model']);
    expect(byTenant.stdout).toMatch(/^TENANT +DAY/);
    expect((await helix(['usage', 'report', '--since', 'soon'])).code).toBe(64);
  });
});

describe.each(['lab', 'lab-leg'])('helix-temporal run, agent %s', (agent) => {
  const say = (script: object[]) => runLab(product, script, undefined, agent);
  const call = (id: string, tool: string, args: object) => ({ calls: [{ tool, id, args }] });

  it('run show --events prints what the log has of a turn, page by page', async () => {
    const runId = await say([{ say: 'x'.repeat(300), deltas: 300 }]);
    await runLab(product, [{ say: 'the second turn' }], sessionOf(runId), agent, 'u2');
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
      agent,
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
    expect(JSON.parse(await readFile(file, 'utf8'))).toMatchObject({ name: id, agent });
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
    const copy = await fork('--step', '1', '--session', `${agent}-fork`);
    expect(copy.sessionId).toBe(`${agent}-fork`);
    expect((await helix(['run', 'watch', copy.runId, '--timeout', '20s'])).code).toBe(0);
    const steps = async (id: string) =>
      (await read<{ steps: { step: number }[] }>('run', 'describe', id)).steps.map(
        ({ step }) => step,
      );
    expect(await steps(copy.runId)).toEqual([2, 3]);
    const shown = await helix(['session', 'show', copy.sessionId]);
    expect(shown.stdout).toContain('the end');
    const whole = await fork('--step', '0');
    expect((await helix(['run', 'watch', whole.runId, '--timeout', '20s'])).code).toBe(0);
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

  it('run fork refuses a step with a call that waits, and continues after the one before', async () => {
    const runId = await say([
      call('c1', 'echo', { value: 1 }),
      {
        calls: [
          { tool: 'echo', id: 'c2', args: { value: 2 } },
          { tool: 'charge', id: 'c3', args: { amount: 5 } },
        ],
      },
    ]);
    const refused = await helix(['run', 'fork', runId, '--step', '2']);
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('not_resumable') });
    const copy = await read<OperatorForkReply>('run', 'fork', runId, '--step', '1');
    expect(copy.sessionId).not.toBe('');
  });

  it('an act with --idempotency-key is done once', async () => {
    const runId = await say([call('c1', 'echo', { value: 2 }), { say: 'the end' }]);
    const args = ['run', 'fork', runId, '--step', '1', '--idempotency-key', `${agent}-once`];
    const first = await read<OperatorForkReply>(...args);
    expect(await read<OperatorForkReply>(...args)).toEqual(first);
  });
});
