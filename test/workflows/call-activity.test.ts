import { expect, it } from '@jest/globals';
import { leftOf } from '../../workflows/call-activity.js';

const settings = {
  taskQueue: 'gpu',
  scheduleToCloseTimeout: 10_000,
  retry: { initialInterval: 50, maximumAttempts: 3 },
};

it('lost attempts count among those that the author of a tool allows', () => {
  expect(leftOf(settings, 0, 0)).toBe(settings);
  expect(leftOf(settings, 2, 4_000)).toEqual({
    taskQueue: 'gpu',
    scheduleToCloseTimeout: 6_000,
    retry: { initialInterval: 50, maximumAttempts: 1 },
  });
  expect(leftOf(settings, 3, 4_000)).toBe('failed');
  expect(leftOf(settings, 4, 4_000)).toBe('failed');
});

it('so does the time since the first attempt', () => {
  expect(leftOf(settings, 1, 10_000)).toBe('timed_out');
});

it('what the author leaves open stays open', () => {
  expect(leftOf(undefined, 9, 1e9)).toBeUndefined();
  const { taskQueue } = settings;
  expect(leftOf({ taskQueue, retry: { maximumInterval: 5 } }, 9, 1e9)).toEqual({
    taskQueue,
    retry: { maximumInterval: 5 },
  });
});
