import { checkTemporal, type TemporalLook } from '../../../cli/doctor/check-temporal.js';
import type { TemporalFacts } from '../../../extensions/doctor/index.js';

const NOW = 1_000_000_000;
const refused = (status: number, message = 'no') => ({ refusal: { status, message } });

const WELL: TemporalFacts = {
  serverVersion: '1.31.2',
  namespace: { value: { retentionMs: 86_400_000 } },
  searchAttributes: { value: { AgentName: 'present', AgentTurn: 'present' } },
  pollers: { value: { runs: NOW - 1_000, tools: NOW - 1_000 } },
  payloadKeys: { value: [null] },
  clock: { value: { at: NOW, askedAt: NOW, repliedAt: NOW } },
};
const LOOK: Omit<TemporalLook, 'facts'> = {
  address: 'host:7233',
  namespace: 'prod',
  taskQueue: 'runs',
  keyIds: [],
  expectsWorker: true,
  now: NOW,
};

const judge = (facts: Partial<TemporalFacts>, look: Partial<TemporalLook> = {}) =>
  checkTemporal({ ...LOOK, facts: { value: { ...WELL, ...facts } }, ...look });

describe('what doctor says of Temporal', () => {
  it('a server with everything is well', () =>
    expect(judge({}).map(({ check, level }) => `${check} ${level}`)).toEqual([
      'temporal ok',
      'temporal namespace ok',
      'search attributes ok',
      'workers ok',
      'codec keys ok',
    ]));

  it.each([
    [5, 'temporal operator namespace create -n prod'],
    [7, 'TEMPORAL_API_KEY'],
    [16, 'TEMPORAL_API_KEY'],
  ])('a namespace that is refused with status %d ends the examination', (status, fix) => {
    const closed = { payloadKeys: refused(status), pollers: refused(status) };
    const verdicts = judge({ namespace: refused(status), ...closed });
    expect(verdicts).toHaveLength(2);
    expect(verdicts[1]).toMatchObject({ level: 'fail', fix: expect.stringContaining(fix) });
  });

  it('a namespace that may be used and not described is for workers', () => {
    const [, verdict, ...others] = judge({ namespace: refused(7) });
    expect(verdict).toMatchObject({
      level: 'warn',
      fix: expect.stringContaining('DescribeNamespace'),
    });
    expect(others).not.toEqual([]);
  });

  it('a namespace that keeps ended runs for less than a day is named, with the command that mends it', () => {
    const of = (hours: number) =>
      judge({ namespace: { value: { retentionMs: hours * 3_600_000 } } });
    expect(of(1.5)[1]).toMatchObject({
      level: 'warn',
      finding: expect.stringContaining('only 1.5 h'),
      fix: 'temporal operator namespace update -n prod --retention 24h',
    });
    expect(of(1.5)).toHaveLength(5);
    expect([0, 24, 72].map((hours) => of(hours)[1]?.level)).toEqual(['ok', 'ok', 'ok']);
  });

  it('missing search attributes are listed with the command that adds them', () => {
    const searchAttributes = { value: { AgentName: 'missing', AgentTurn: 'missing' } } as const;
    expect(judge({ searchAttributes })[2]).toMatchObject({
      level: 'warn',
      fix: expect.stringContaining(
        'search-attribute create -n prod --name AgentName --type Keyword --name AgentTurn --type Int',
      ),
    });
  });

  it('a search attribute of another type is a fault', () => {
    const searchAttributes = { value: { AgentTurn: 'other type' } } as const;
    expect(judge({ searchAttributes })[2]?.level).toBe('fail');
  });

  it('a server that lists no attributes is not wrong', () =>
    expect(judge({ searchAttributes: refused(12) })[2]?.level).toBe('note'));

  it('queues and histories that cannot be read are no faults of theirs', () => {
    const unread = { pollers: refused(14), payloadKeys: refused(14) };
    const found = judge(unread).slice(3);
    expect(found.map(({ check, level }) => [check, level])).toEqual([
      ['workers', 'warn'],
      ['codec keys', 'note'],
    ]);
  });

  it('workers that have not asked for more than a minute are gone, by the clock of the server', () => {
    const pollers = { value: { runs: NOW - 71_000, tools: 0 } };
    const verdict = judge({ pollers }, { now: NOW - 71_000 })[3];
    expect(verdict).toMatchObject({ level: 'fail', fix: expect.stringContaining('TASK_QUEUE') });
    expect(judge({ pollers: { value: { runs: NOW, tools: 0 } } })[3]?.level).toBe('warn');
    const without = judge({ pollers }, { expectsWorker: false });
    expect(without.map(({ check }) => check)).not.toContain('workers');
  });

  it('a key that running runs need and that is gone is named', () => {
    const payloadKeys = { value: ['2026-10', '2026-11', null] };
    expect(judge({ payloadKeys }, { keyIds: ['2026-11'] }).at(-1)).toMatchObject({
      level: 'fail',
      finding: expect.stringContaining('"2026-10"'),
      fix: expect.stringContaining('TEMPORAL_CODEC_KEYS'),
    });
  });

  it.each([
    [14, 'connect ECONNREFUSED 127.0.0.1:1', 'TEMPORAL_ADDRESS'],
    [14, 'tlsv13 alert certificate required', 'TEMPORAL_TLS_CLIENT_CERT_PATH'],
    [14, 'self-signed certificate in certificate chain', 'TEMPORAL_TLS_SERVER_CA_CERT_PATH'],
    [14, 'certificate has expired', 'Renew it on that server'],
    [14, 'sslv3 alert certificate expired', 'TEMPORAL_TLS_CLIENT_CERT_PATH'],
    [16, 'Request unauthorized', 'TEMPORAL_API_KEY'],
  ])('a server that refuses with %d "%s" is one finding', (status, message, fix) => {
    const verdicts = checkTemporal({ ...LOOK, facts: refused(status, message) });
    expect(verdicts).toMatchObject([{ level: 'fail', fix: expect.stringContaining(fix) }]);
  });
});
