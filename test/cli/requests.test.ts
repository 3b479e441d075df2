import { EXIT } from '../../cli/failure.js';
import { runCli, runRecorded, type Asked } from './fake-cli.js';

const none = { workflows: 0, rows: 0, entries: 0, bytes: 0, sessions: 0, conversations: 0 };
/** Replies with what each of the commands below reads. */
const REPLIES = {
  get: {
    runs: [],
    sessions: [],
    entries: [],
    usage: [],
    groups: [],
    total: 0,
    agent: 'lab',
    owner: 'ann',
    run: { runId: 'r1', status: 'completed' },
    messages: [],
    hasMore: false,
    pending: [{ toolCallId: 'c1', approvalId: 'a1', inputHash: 'h1' }],
  },
  post: { result: 'stopped', runId: 'r2', sessionId: 's2', deadline: 0, status: 'delivered' },
  delete: { ...none, complete: true },
};

const OPERATOR = '/api/operator';
const HOUR_AGO = '1969-12-31T23:00:00.000Z';

it.each<[command: string, ...asked: Asked]>([
  [
    'run list -q Q --status failed --agent lab --since 1h --limit 7',
    'get',
    `${OPERATOR}/runs`,
    { query: 'Q', status: 'failed', agent: 'lab', since: HOUR_AGO, limit: 7 },
  ],
  ['run count --group-by agent', 'get', `${OPERATOR}/runs/count`, { groupBy: 'agent' }],
  ['run stop r1', 'post', `${OPERATOR}/runs/r1/stop`, { mode: 'interrupt' }],
  [
    'run stop r1 --mode abort --reason why',
    'post',
    `${OPERATOR}/runs/r1/stop`,
    { mode: 'abort', reason: 'why' },
  ],
  [
    'run fork r1 --step 1 --session s2 --reason why',
    'post',
    `${OPERATOR}/runs/r1/fork`,
    { step: 1, sessionId: 's2', reason: 'why' },
  ],
  ['run fork r1 --step 0', 'post', `${OPERATOR}/runs/r1/fork`, { step: 0 }],
  [
    'approval list --older-than 1h',
    'get',
    `${OPERATOR}/waiting`,
    { limit: 50, olderThan: 3_600_000 },
  ],
  [
    'approval answer s1::c1 --error gone --reason why',
    'post',
    `${OPERATOR}/waiting/s1/c1`,
    { error: 'gone', reason: 'why', approvalId: 'a1' },
  ],
  [
    'approval extend s1::c1 --by 2h --reason why',
    'post',
    `${OPERATOR}/waiting/s1/c1/extend`,
    { byMs: 7_200_000, reason: 'why', approvalId: 'a1' },
  ],
  ['session show s1', 'get', `${OPERATOR}/sessions/s1`, { offset: 0, limit: 100, hidden: false }],
  ['session export s1', 'get', `${OPERATOR}/sessions/s1`, { offset: 0, limit: 100, hidden: true }],
  ['session delete s1 -y', 'delete', '/api/chat/s1', { receipt: true }],
  ['user export --owner ann', 'lines', `${OPERATOR}/users/ann/export`],
  [
    'agent start lab hi --session s1 --at 1h',
    'post',
    '/api/agent/start',
    { agent: 'lab', message: 'hi', sessionId: 's1', startAt: '1970-01-01T01:00:00.000Z' },
  ],
  [
    'agent pause lab --all-tenants --reason why',
    'post',
    `${OPERATOR}/agents/lab/pause`,
    { everywhere: true, reason: 'why' },
  ],
  [
    'agent schedule pause daily --reason why',
    'post',
    `${OPERATOR}/schedules/daily/pause`,
    { reason: 'why' },
  ],
  ['agent schedule trigger daily', 'post', `${OPERATOR}/schedules/daily/trigger`, {}],
  ['agent schedule delete daily', 'delete', `${OPERATOR}/schedules/daily`],
  [
    'audit list --since 1h --action deny --actor ann',
    'get',
    `${OPERATOR}/audit`,
    { since: HOUR_AGO, action: 'deny', actor: 'ann', limit: 50 },
  ],
  ['audit export --since 1h', 'lines', `${OPERATOR}/audit/export`, { since: HOUR_AGO }],
  [
    'usage report --by agent --since 1d --until 2026-01-02',
    'get',
    `${OPERATOR}/usage`,
    { by: 'agent', since: '1969-12-31', until: '2026-01-02' },
  ],
])('%s asks for that', async (command, ...request) => {
  const { asked } = await runRecorded([...command.split(' '), '-o', 'json'], REPLIES);
  expect(asked.at(-1)).toEqual(request);
});

it('the exit codes are those of the documents', () => {
  const codes = { done: 0, failed: 1, waits: 2, stopped: 3, usage: 64, unavailable: 69 };
  expect(EXIT).toEqual({ ...codes, notAllowed: 77, timeout: 124, interrupted: 130 });
});

it('a trail that was changed is a failure', async () => {
  const verdict = { ok: false, entries: 9, signed: 9, fault: { n: 3, reason: 'hash' } };
  const { exitCode, printed } = await runCli(['audit', 'verify'], {
    get: () => Promise.resolve(verdict),
  });
  expect([exitCode, printed]).toEqual([1, expect.stringContaining('Entry 3')]);
});
