// The suite as another project would run it: from the built package, under node:test.
import { describe, it } from 'node:test';
import { storeConformance } from '../../../dist/stores/conformance/index.js';
import { createMemoryStores } from '../../../dist/stores/memory/index.js';

storeConformance({
  open: async () => ({ ...createMemoryStores(), close: async () => {} }),
  describe,
  it,
});
