import { storeConformance } from '../../../stores/conformance/index.js';
import { createMemoryStores } from '../../../stores/memory/index.js';

storeConformance({
  open: () => Promise.resolve({ ...createMemoryStores(), close: () => Promise.resolve() }),
  describe,
  it,
  runs: 300,
});
