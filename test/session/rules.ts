import { createSuite } from '../../store/conformance/suite.js';
import { createMemoryStores } from '../../store/memory/index.js';

/**
 * Registers a case about the record's rules on the memory store; the stores have their own suite.
 */
export const { it } = createSuite({
  open: () => Promise.resolve({ ...createMemoryStores(), close: () => Promise.resolve() }),
  describe: (name, body) => {
    describe(name, body);
  },
  it: (name, body) => {
    test(name, body);
  },
});
