import { LIMITS } from '../../../protocol/limits.js';
import { isStalled, toNewestRun } from '../../../runs/record/newest-run.js';
import type { SessionRecord } from '../../../store/contract/sessions.js';

const atWork = { status: 'running', stream: 'active', updatedAt: 1_000 } as const;
const late = 1_000 + LIMITS.stalledMs + 1;

describe('a run', () => {
  it('a run is stalled when it has written nothing for longer than the limit', () => {
    expect(isStalled(atWork, late - 1)).toBe(false);
    expect(isStalled(atWork, late)).toBe(true);
    expect(isStalled({ ...atWork, status: 'starting' }, late)).toBe(true);
    expect(isStalled({ ...atWork, updatedAt: late }, late)).toBe(false);
  });

  it('a run is not stalled while it waits for people, nor once it has ended', () => {
    expect(isStalled({ ...atWork, status: 'waiting_approval', stream: 'paused' }, late)).toBe(
      false,
    );
    expect(isStalled({ ...atWork, status: 'completed' }, late)).toBe(false);
    expect(isStalled({ ...atWork, status: 'failed', stream: 'failed' }, late)).toBe(false);
  });

  it('a run is not stalled until its provider is asked again, nor while its agent is paused', () => {
    expect(isStalled({ ...atWork, waitsUntil: late - 1 }, late)).toBe(false);
    const record = { ...atWork, runId: 'r', status: 'starting' } as SessionRecord;
    expect(toNewestRun(record, late)).toEqual({ runId: 'r', status: 'starting', stalled: true });
    expect(toNewestRun(record, late, true)).toEqual({
      runId: 'r',
      status: 'starting',
      waitingFor: 'agent',
    });
  });

  it('a run says for what it waits, and until when it is to start', () => {
    const now = 5_000;
    const run = (more: Partial<SessionRecord>) =>
      toNewestRun({ ...atWork, runId: 'r', ...more } as SessionRecord, now);
    const starting = { runId: 'r', status: 'starting' } as const;
    expect(run({ ...starting, waitsUntil: 6_000 })).toEqual({
      ...starting,
      waitingFor: 'start',
      startAt: 6_000,
    });
    expect(run({ ...starting, waitsUntil: 4_000 })).toEqual(starting);
    const running = { runId: 'r', status: 'running' };
    expect(run({ waitsUntil: 6_000 })).toEqual({ ...running, waitingFor: 'provider' });
    expect(run({ waitsUntil: 4_000 })).toEqual(running);
    const error = { code: 'x', message: 'X.', retryable: false };
    const ended = { status: 'failed', stream: 'ended', error } as const;
    expect(run(ended)).toEqual({ runId: 'r', status: 'failed', error });
  });
});
