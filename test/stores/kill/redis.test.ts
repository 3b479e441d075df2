import { describe } from '@jest/globals';
import { sharedRedisUrl } from '../../support/test-stores.js';
import { killCases } from './kill-cases.js';

describe('real processes on Redis', () => {
  killCases(sharedRedisUrl);
});
