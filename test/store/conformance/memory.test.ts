import { storeConformance } from '../../../store/conformance/index.js';
import { createMemoryStores } from '../../../store/memory/index.js';

storeConformance({
  open: () => Promise.resolve({ ...createMemoryStores(), close: () => Promise.resolve() }),
  describe,
  it,
});
