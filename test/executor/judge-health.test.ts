import { readFileSync } from 'node:fs';
import { judgeHealth } from '../../executor/judge-health.js';
import type { Counts, HealthFacts, HealthReply, RecordFacts } from '../../protocol/health.js';

const HOUR = 60 * 60_000;
const QUEUES = {
  taskQueue: 'q',
  pollers: { runs: 2, steps: 2, tools: 2 },
  backlog: 0,
  backlogAgeMs: 0,
};
type Facts = Pick<HealthFacts, 'queues'> & RecordFacts;
const WELL: Facts = {
  queues: QUEUES,
  workers: 2,
  sweptMs: 3_000,
  counts: { 'run:completed': 40, 'model:ok': 90, 'tool:ok': 12 },
  week: [],
  waiting: { count: 0, oldestMs: undefined },
  paused: { agents: [], held: 0 },
};

/** Seven days that were alike, but for the newest. */
const week = (usual: Counts, newest: Counts = usual): Counts[] => [
  newest,
  ...Array.from({ length: 6 }, () => usual),
];
const USUAL = { 'run:completed': 40, 'model:ok': 99, 'model:provider_error': 1, 'tool:ok': 20 };

/** The verdict on a service that does well, but for these facts. */
function judge({ queues, ...record }: Facts): HealthReply {
  return judgeHealth({ periodMs: HOUR, queues, record });
}

const textOf = (path: string): string =>
  readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

type Part = 'flow' | 'execution' | 'liveness' | 'people';

const TABLE: [what: string, facts: Partial<Facts>, part: Part, state: string, text: RegExp][] = [
  ['Temporal is away', { queues: undefined }, 'flow', 'bad', /Temporal does not answer/],
  ['no worker holds a lease', { workers: 0 }, 'flow', 'bad', /No worker takes runs from "q"/],
  [
    'no worker polls, in a store without leases',
    { workers: undefined, queues: { ...QUEUES, pollers: { runs: 0, steps: 0, tools: 0 } } },
    'flow',
    'bad',
    /No worker takes runs/,
  ],
  [
    'no worker runs tools',
    { queues: { ...QUEUES, pollers: { runs: 1, steps: 1, tools: 0 } } },
    'flow',
    'bad',
    /takes tools/,
  ],
  [
    'tasks pile up',
    { queues: { ...QUEUES, backlog: 7, backlogAgeMs: 45_000 } },
    'flow',
    'warn',
    /^7 tasks wait for a worker, the oldest for 45 s\.$/,
  ],
  [
    'an agent is paused',
    { paused: { agents: ['lab', 'support'], held: 12 } },
    'flow',
    'warn',
    /^Paused: lab, support; 12 runs wait/,
  ],
  [
    'a short backlog is normal',
    { queues: { ...QUEUES, backlog: 7, backlogAgeMs: 2_000 } },
    'flow',
    'ok',
    /7 tasks wait/,
  ],
  [
    'the provider fails',
    { counts: { 'model:ok': 10, 'model:provider_error': 5, 'model:provider_overloaded': 1 } },
    'execution',
    'bad',
    /provider failed 6 of 16 model calls in the last 1 h: provider_error 5, provider_overloaded 1/,
  ],
  [
    'a provider that fails now and then is normal',
    { counts: { 'model:ok': 90, 'model:provider_error': 5 } },
    'execution',
    'ok',
    /95 model calls/,
  ],
  [
    'runs fail here',
    { counts: { 'run:completed': 3, 'run:failed:attempts_exhausted': 1, 'model:ok': 9 } },
    'execution',
    'bad',
    /^1 of 4 runs failed here in the last 1 h: attempts_exhausted 1\.$/,
  ],
  [
    'runs fail because of the provider',
    { counts: { 'run:completed': 3, 'run:failed:provider_unauthorized': 1, 'model:ok': 9 } },
    'execution',
    'warn',
    /because of the provider/,
  ],
  [
    'tools fail',
    { counts: { 'run:completed': 9, 'tool:ok': 2, 'tool:failed': 8 } },
    'execution',
    'warn',
    /^8 of 10 tool executions failed/,
  ],
  ['no worker sweeps', { sweptMs: 5 * 60_000 }, 'liveness', 'bad', /5 min ago/],
  ['no worker has ever swept', { sweptMs: undefined }, 'liveness', 'bad', /never/],
  [
    'a worker died',
    { counts: { ...WELL.counts, 'lease:judged': 1 } },
    'liveness',
    'warn',
    /^1 worker died/,
  ],
  [
    'questions expire',
    { counts: { ...WELL.counts, 'answer:expired': 2 } },
    'people',
    'warn',
    /^2 questions expired/,
  ],
  [
    'a question waits for long',
    { waiting: { count: 3, oldestMs: 26 * HOUR } },
    'people',
    'warn',
    /oldest for 1 d/,
  ],
  [
    'a question waits',
    { waiting: { count: 1, oldestMs: 90_000 } },
    'people',
    'ok',
    /^1 conversation waits for people/,
  ],
  [
    'notices are given up',
    { counts: { ...WELL.counts, 'notice:delivered': 9, 'notice:failed': 1 } },
    'liveness',
    'warn',
    /^1 notice could not be delivered in the last 1 h/,
  ],
  [
    'no receiver takes notices',
    { counts: { ...WELL.counts, 'notice:retried': 4 } },
    'liveness',
    'warn',
    /^No receiver takes notices: 4 attempts failed/,
  ],
  [
    'a receiver that takes a notice at the second attempt is normal',
    { counts: { ...WELL.counts, 'notice:retried': 4, 'notice:delivered': 4 } },
    'liveness',
    'ok',
    /looked for/,
  ],
  [
    'the provider fails more than in the week before',
    { counts: { ...WELL.counts, 'model:provider_error': 6 }, week: week(USUAL) },
    'execution',
    'warn',
    /^The provider failed 6 of 96 model calls in the last 1 h, 6\.3 % where 1\.0 % were usual in the 7 days before: provider_error 6\.$/,
  ],
  [
    'the provider fails as in the week before',
    {
      counts: { 'run:completed': 40, 'model:ok': 99, 'model:provider_error': 3 },
      week: week(USUAL),
    },
    'execution',
    'ok',
    /102 model calls/,
  ],
  [
    'a week with few calls says nothing about shares',
    { counts: { ...WELL.counts, 'model:provider_error': 6 }, week: week({ 'model:ok': 4 }) },
    'execution',
    'ok',
    /96 model calls/,
  ],
  [
    'runs fail here more than in the week before',
    { counts: { 'run:completed': 97, 'run:failed:internal': 3, 'model:ok': 9 }, week: week(USUAL) },
    'execution',
    'warn',
    /^3 of 100 runs failed here in the last 1 h, 3\.0 % where 0\.0 % were usual in the 7 days before: internal 3\.$/,
  ],
  [
    'few tools of many fail, where none did in the week before',
    { counts: { ...WELL.counts, 'tool:ok': 1_000, 'tool:failed': 4 }, week: week(USUAL) },
    'execution',
    'ok',
    /model calls/,
  ],
  [
    'tools fail more than in the week before',
    { counts: { ...WELL.counts, 'tool:failed': 4 }, week: week(USUAL) },
    'execution',
    'warn',
    /^4 of 16 tool executions failed in the last 1 h, 25 % where 0\.0 % were usual/,
  ],
  [
    'no messages arrive where there were always many',
    { counts: { 'run:completed': 1 }, week: week(USUAL) },
    'flow',
    'warn',
    /^1 run ended in the last 1 h; there were 40 or more at this time on each of the 7 days before\.$/,
  ],
  [
    'a quiet hour of a service that rests on some days is normal',
    { counts: {}, week: week(USUAL, { 'run:completed': 2 }) },
    'flow',
    'ok',
    /no task waits/,
  ],
];

describe('the verdict on the service', () => {
  it.each(TABLE)('%s', (_what, facts, part, state, text) => {
    const reply = judge({ ...WELL, ...facts });
    expect(reply[part].state).toBe(state);
    expect(reply[part].text).toMatch(text);
    expect(reply.verdict).toBe(state);
  });

  it('a service that does well needs nothing', () => {
    const reply: HealthReply = judge(WELL);
    expect(reply).toMatchObject({ verdict: 'ok', next: 'Nothing to do.' });
  });

  it('a Redis that does not serve is named, with what Temporal says, and nothing else is judged', () => {
    const record = { fault: 'The conversation store cannot be reached right now.' };
    const reply = judgeHealth({ periodMs: HOUR, queues: QUEUES, record });
    expect(reply.verdict).toBe('bad');
    expect(reply.flow.text).toBe(
      'No message is taken: the conversation store cannot be reached right now.',
    );
    expect(reply.next).toMatch(/^Check that Redis runs at REDIS_URL/);
    for (const part of [reply.execution, reply.liveness, reply.people]) {
      expect(part).toMatchObject({ state: 'warn', text: expect.stringMatching(/^Not known/) });
    }
    const both = judgeHealth({ periodMs: HOUR, queues: undefined, record });
    expect(both.flow.text).toMatch(/right now; Temporal does not answer either\.$/);
    expect(both.next).toBe(reply.next);
  });

  it('there is one next action: that of the worst part, and of the first among equals', () => {
    const counts = { 'answer:expired': 1, 'model:provider_error': 9 };
    expect(judge({ ...WELL, counts }).next).toMatch(/provider/);
    expect(judge({ ...WELL, counts, workers: 0 }).next).toMatch(/^Start a worker/);
  });

  it('what it refers to exists', () => {
    const runbook = textOf('docs/runbook.md');
    const anchors = [...textOf('executor/judge-health.ts').matchAll(/docs\/runbook\.md#([\w-]+)/g)];
    expect(anchors.length).toBeGreaterThan(0);
    const headings = [...runbook.matchAll(/^## (.*)$/gm)].map(([, name]) => name?.toLowerCase());
    for (const [, anchor] of anchors) expect(headings).toContain(anchor);
  });

  it('the same facts give the same text, in whatever order they were counted', () => {
    const codes = { 'model:a': 4, 'model:b': 4, 'model:c': 4 };
    const reversed = Object.fromEntries(Object.entries(codes).reverse());
    expect(judge({ ...WELL, counts: reversed })).toEqual(judge({ ...WELL, counts: codes }));
  });
});
