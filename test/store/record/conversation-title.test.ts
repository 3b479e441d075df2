import { beginningOf } from '../../../store/record/conversation-title.js';

it('a title has at most 80 characters', () => {
  expect(beginningOf(['🙂'.repeat(80)])).toBe('🙂'.repeat(80));
  expect(beginningOf(['🙂'.repeat(81)])).toBe(`${'🙂'.repeat(79)}…`);
});
