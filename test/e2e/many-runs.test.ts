import type { AuditReply } from '../../protocol/audit.js';
import type { OperatorRuns } from '../../protocol/operator.js';
import { useCommandLine } from '../support/command-line.js';
import { ask, readOperator, runLab, sessionOf } from '../support/lab-run.js';
import { useProduct } from '../support/product.js';
import { useOwnUser } from '../support/signing-proxy.js';
import { until } from '../support/until.js';

const CROWD = 15;
const product = useOwnUser(useProduct('accounts'), 'operator');
const { helix } = useCommandLine(product);
const WAITING = "AgentName = 'lab' AND AgentStatus = 'waiting_approval'";

const countWaiting = async (): Promise<number> => {
  const query = new URLSearchParams({ query: WAITING }).toString();
  return (await readOperator<{ total: number }>(product, `runs/count?${query}`)).total;
};

/** Lists all runs, in pages of `limit`. */
async function listedByPages(limit: number): Promise<string[]> {
  const ids: string[] = [];
  let cursor: string | undefined;
  do {
    const query = new URLSearchParams({ limit: String(limit), ...(cursor && { cursor }) });
    const page = await readOperator<OperatorRuns>(product, `runs?${query.toString()}`);
    expect(page.runs.length).toBeLessThanOrEqual(limit);
    ids.push(...page.runs.map(({ runId }) => runId));
    ({ cursor } = page);
  } while (cursor !== undefined);
  return ids;
}

const denials = async (): Promise<AuditReply['entries']> =>
  (await readOperator<AuditReply>(product, 'audit?action=deny&limit=500')).entries;

it('many waiting runs are listed page by page, and denied by one command, each once', async () => {
  const script = [ask('charge', { amount: 5 }), { say: 'well' }];
  const runs = await Promise.all(Array.from({ length: CROWD }, () => runLab(product, script)));
  await until('all are listed', async () => (await countWaiting()) === CROWD);
  const few = await helix(['run', 'list', '--limit', '10', '-o', 'jsonl']);
  expect(few.stdout.trim().split('\n')).toHaveLength(10);
  expect(few.stderr).toContain('--limit shows more');
  expect((await listedByPages(6)).sort()).toEqual([...runs].sort());

  const deny = ['approval', 'deny', '-q', WAITING, '--tool', 'charge', '--reason', 'recalled'];
  const plan = await helix([...deny, '--dry-run', '-o', 'json']);
  expect(JSON.parse(plan.stdout)).toHaveLength(CROWD);
  expect(await denials()).toEqual([]);
  const denied = await helix([...deny, '-y', '-o', 'json']);
  expect([denied.code, JSON.parse(denied.stdout)]).toMatchObject([0, { length: CROWD }]);
  // The server stores an act before the audit trail shows it.
  const entries = await until('each is in the trail', async () => {
    const found = await denials();
    return found.length >= CROWD && found;
  });
  expect(entries).toHaveLength(CROWD);
  expect(new Set(entries.map(({ target }) => target.sessionId))).toEqual(
    new Set(runs.map(sessionOf)),
  );
  for (const entry of entries) expect(entry).toMatchObject({ via: 'cli', outcome: 'stored' });
});

it('a filter that has nothing in it is refused', async () => {
  expect((await helix(['approval', 'deny', '--reason', 'x', '-y'])).code).toBe(64);
});
