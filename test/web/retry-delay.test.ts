import { describe, expect, it } from '@jest/globals';
import { retryDelay } from '../../web/src/retry-delay.js';

describe('retryDelay', () => {
  it('doubles from 200 ms and stays at 3 s', () => {
    const delays = [0, 1, 2, 3, 4, 5, 500].map((attempt) => retryDelay(attempt, () => 0));
    expect(delays).toEqual([200, 400, 800, 1600, 3000, 3000, 3000]);
  });

  it('spreads pages by up to a quarter, never beyond the longest wait', () => {
    expect(retryDelay(0, () => 1)).toBe(250);
    expect(retryDelay(3, () => 1)).toBe(2000);
    expect(retryDelay(9, () => 1)).toBe(3000);
  });
});
