import { remainingSettings } from '../../workflows/attempts.js';

const lost = (number: number, unbegun?: number) => ({ token: 1, number, unbegun });

const settings = {
  taskQueue: 'gpu',
  scheduleToCloseTimeout: 10_000,
  retry: { initialInterval: 50, maximumAttempts: 3 },
};

it('lost attempts count among those that the author of a tool allows', () => {
  expect(remainingSettings(settings, undefined, 0)).toBe(settings);
  expect(remainingSettings(settings, lost(2), 4_000)).toEqual({
    taskQueue: 'gpu',
    scheduleToCloseTimeout: 6_000,
    retry: { initialInterval: 50, maximumAttempts: 1 },
  });
  expect(remainingSettings(settings, lost(3), 4_000)).toBe('failed');
  expect(remainingSettings(settings, lost(4), 4_000)).toBe('failed');
});

it('so does the time since the first attempt', () => {
  expect(remainingSettings(settings, lost(1), 10_000)).toBe('timed_out');
});

it('an attempt that was handed over before it began does not count', () => {
  expect(remainingSettings(settings, lost(3, 3), 0)).toEqual(settings);
  expect(remainingSettings(settings, lost(3, 1), 0)).toMatchObject({
    retry: { maximumAttempts: 1 },
  });
  expect(remainingSettings(settings, lost(4, 1), 0)).toBe('failed');
});

it('what the author leaves open stays open', () => {
  expect(remainingSettings(undefined, lost(9), 1e9)).toBeUndefined();
  const { taskQueue } = settings;
  expect(remainingSettings({ taskQueue, retry: { maximumInterval: 5 } }, lost(9), 1e9)).toEqual({
    taskQueue,
    retry: { maximumInterval: 5 },
  });
});
