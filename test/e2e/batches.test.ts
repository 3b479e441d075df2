import type { AuditEntryReply, AuditReply } from '../../protocol/audit.js';
import type { OperatorBatch, OperatorBatchPlan } from '../../protocol/batch.js';
import type { OperatorRunDetail } from '../../protocol/operator.js';
import { createKeySpace } from '../../stores/redis/keys.js';
import { startCommand, useCommandLine } from '../support/command-line.js';
import { ask, readOperator, runLab, sessionOf } from '../support/lab-run.js';
import { useProduct } from '../support/product.js';
import { until } from '../support/until.js';

const CROWD = 20;
const KILL_AFTER = 5;

const product = useProduct({ env: { MAX_REQUESTS_PER_MINUTE: '0' } });
const { helix, read } = useCommandLine(product);
const WAITING = "AgentName = 'lab' AND AgentStatus = 'waiting_approval'";

async function countRuns(filter: Record<string, string>): Promise<number> {
  const query = new URLSearchParams(filter).toString();
  return (await readOperator<{ total: number }>(product, `runs/count?${query}`)).total;
}

async function crowd(size: number): Promise<string[]> {
  const script = [ask('charge', { amount: 5 }), { say: 'well' }];
  const runs = await Promise.all(Array.from({ length: size }, () => runLab(product, script)));
  await until('all are listed', async () => (await countRuns({ query: WAITING })) === size);
  return runs;
}

async function entriesOf(action: string): Promise<AuditEntryReply[]> {
  const found: AuditEntryReply[] = [];
  let cursor = '';
  do {
    const query = `action=${action}&limit=500${cursor === '' ? '' : `&cursor=${cursor}`}`;
    const page = await readOperator<AuditReply>(product, `audit?${query}`);
    found.push(...page.entries);
    cursor = page.cursor ?? '';
  } while (cursor !== '');
  return found;
}

const chained = async (): Promise<number> =>
  Number((await product.redis.hget(createKeySpace().audit('').head, 'n')) ?? 0);

const lastBatch = async (): Promise<OperatorBatch> => {
  const [batch] = await read<OperatorBatch[]>('batch', 'list');
  if (batch === undefined) throw new Error('no batch is listed');
  return batch;
};

it('many waiting runs are denied by one command, each once, though the worker is killed', async () => {
  const runs = await crowd(CROWD);
  const deny = ['approval', 'deny', '-q', WAITING, '--tool', 'charge', '--reason', 'recalled'];
  const plan = await helix([...deny, '--dry-run', '-o', 'json']);
  expect(JSON.parse(plan.stdout)).toHaveLength(CROWD);
  // That the question was asked.
  expect(await chained()).toBe(1);

  const denying = startCommand([...deny, '-y', '--rps', '5', '-o', 'json'], {
    env: { HELIX_URL: product.url },
  });
  await until('some are denied', async () => (await chained()) >= KILL_AFTER);
  await product.kill9Worker();
  expect(await chained()).toBeLessThan(CROWD);
  await product.startWorker();
  const { code, stdout } = await denying.ended;
  expect(JSON.parse(stdout)).toMatchObject({
    act: 'deny',
    status: 'completed',
    total: CROWD,
    done: CROWD,
    skipped: 0,
    failed: 0,
  });
  expect(code).toBe(0);

  const entries = await entriesOf('deny');
  expect(entries).toHaveLength(CROWD);
  expect(new Set(entries.map(({ target }) => target.sessionId))).toEqual(
    new Set(runs.map(sessionOf)),
  );
  for (const entry of entries) expect(entry).toMatchObject({ via: 'cli', outcome: 'stored' });
  for (const runId of [runs[0], runs[KILL_AFTER], runs[CROWD - 1]]) {
    await until('the run continues to its end', async () => {
      const run = await readOperator<OperatorRunDetail>(product, `runs/${runId ?? ''}`);
      return run.status === 'completed' && run.steps[0]?.calls[0]?.state === 'denied';
    });
  }
  expect(await lastBatch()).toMatchObject({ done: CROWD, by: 'anonymous' });
}, 240_000);

it('a batch that is ended stops, and says what it has done', async () => {
  const size = 20;
  await crowd(size);
  const stop = ['run', 'stop', '-q', WAITING, '-y', '--rps', '1', '--no-wait', '-o', 'json'];
  const { stdout } = await helix(stop);
  const { id, status } = JSON.parse(stdout) as OperatorBatch;
  expect(status).toBe('running');
  await until('one is stopped', async () => (await entriesOf('stop')).length > 0);
  expect((await helix(['batch', 'terminate', id])).code).toBe(0);
  const ended = await until('it has ended', async () => {
    const batch = await readOperator<OperatorBatch>(product, `batches/${id}`);
    return batch.status !== 'running' && batch;
  });
  expect(ended.status).toBe('aborted');
  expect(ended.done).toBeLessThan(size);
  expect(await entriesOf('stop')).toHaveLength(ended.done);
  const interrupted = { status: 'interrupted', agent: 'lab' };
  await until('they are listed', async () => (await countRuns(interrupted)) === ended.done);
  // A retry leaves alone what still waits.
  const retry = await read<OperatorBatch>(
    'run',
    'retry',
    '--status',
    'interrupted',
    '--agent',
    'lab',
    '-y',
    '--reason',
    'again',
  );
  expect(retry).toMatchObject({ act: 'retry', total: ended.done, done: ended.done, failed: 0 });
  expect(await entriesOf('retry')).toHaveLength(ended.done);
});

it('an empty filter is refused, and another act needs its own fields', async () => {
  const post = async (body: object): Promise<Response> =>
    fetch(`${product.url}/api/operator/batches`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  for (const body of [
    { act: 'stop', filter: {} },
    { act: 'stop', filter: { query: '  ' } },
    { act: 'stop' },
    { act: 'deny', filter: { agent: 'lab' } },
    { act: 'stop', filter: { tool: 'charge' } },
    { act: 'stop', filter: { tenant: 'acme' } },
    { act: 'erase', filter: { agent: 'lab' } },
  ]) {
    expect((await post(body)).status).toBe(400);
  }
  expect((await helix(['approval', 'deny', '--reason', 'x', '-y'])).code).toBe(64);
  const nothing = await post({ act: 'stop', filter: { agent: 'support' } });
  expect(((await nothing.json()) as OperatorBatchPlan).total).toBe(0);
  const unknown = await fetch(`${product.url}/api/operator/batches/b-unknown`);
  expect(unknown.status).toBe(404);
});
