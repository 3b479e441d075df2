import { findExpiredPending } from '../../ai-sdk/index.js';

describe('findExpiredPending', () => {
  it('findExpiredPending finds unanswered calls whose deadline has passed', () => {
    const pending = {
      over: { deadline: 1_000 },
      open: { deadline: 1_001 },
      unhurried: {},
      answered: { deadline: 5, response: { row: {} } },
    };
    expect(findExpiredPending(pending, 1_000)).toEqual(['over']);
    expect(findExpiredPending({}, 1_000)).toEqual([]);
    expect(findExpiredPending({ c: { deadline: Date.now() + 60_000 } })).toEqual([]);
  });
});
