import { createSuite } from '../../store/conformance/suite.js';
import { createMemoryStores } from '../../store/memory/index.js';

/** A case about a rule of the record, on a store in memory: what another store adds is for the suite of stores. */
export const { it } = createSuite({
  open: () => Promise.resolve({ ...createMemoryStores(), close: () => Promise.resolve() }),
  describe: (name, body) => {
    describe(name, body);
  },
  it: (name, body) => {
    test(name, body);
  },
});
