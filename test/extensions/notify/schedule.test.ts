import { lookAtSchedule } from '../../../extensions/notify/announce.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const USUAL = { remindAfterMs: [HOUR, DAY], escalateAfterMs: 4 * HOUR };

describe('the schedule of a wait', () => {
  it('the question is notified at once, and looked at again at the first reminder', () => {
    const { due, done, againMs } = lookAtSchedule(USUAL, -1, 0);
    expect(due).toEqual([{ stage: 'requested', atMs: 0 }]);
    expect([done, againMs]).toEqual([0, HOUR]);
  });

  it('each point is due once', () => {
    const seen: string[] = [];
    let done = -1;
    let now = 0;
    for (let looks = 0; looks < 10; looks += 1) {
      const outlook = lookAtSchedule(USUAL, done, now);
      seen.push(...outlook.due.map(({ stage, atMs }) => `${stage} ${String(atMs / HOUR)}`));
      done = outlook.done;
      now += outlook.againMs;
    }
    expect(seen).toEqual(['requested 0', 'reminder 1', 'escalated 4', 'reminder 24']);
  });

  it('a reminder comes 15 minutes before a deadline, and none after it', () => {
    const schedule = { ...USUAL, deadlineMs: 2 * HOUR };
    expect(lookAtSchedule(schedule, 0, HOUR)).toMatchObject({ againMs: 45 * MINUTE });
    const last = lookAtSchedule(schedule, HOUR, 105 * MINUTE);
    expect(last.due).toEqual([{ stage: 'reminder', atMs: 105 * MINUTE }]);
    // The run settles the call at its deadline; the schedule looks right after it.
    expect(last.againMs).toBe(15 * MINUTE + 5_000);
    expect(lookAtSchedule(schedule, 105 * MINUTE, 3 * HOUR).due).toEqual([]);
  });

  it('after an outage only the newest reminder is due, beside the escalation', () => {
    const { due } = lookAtSchedule(USUAL, 0, 2 * DAY);
    expect(due).toEqual([
      { stage: 'escalated', atMs: 4 * HOUR },
      { stage: 'reminder', atMs: DAY },
    ]);
  });

  it('a question that is noticed late is no reminder', () => {
    expect(lookAtSchedule(USUAL, -1, 2 * HOUR).due).toEqual([{ stage: 'requested', atMs: 0 }]);
  });

  it('without a signal a wait is looked at daily', () => {
    expect(lookAtSchedule({ remindAfterMs: [] }, 0, HOUR).againMs).toBe(DAY);
  });
});
