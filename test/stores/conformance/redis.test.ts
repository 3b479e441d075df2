import { describe, it } from '@jest/globals';
import { storeConformance } from '../../../stores/conformance/index.js';
import { openUnderTest } from '../../support/store-under-test.js';
import { sharedRedisUrl } from '../../support/test-stores.js';

storeConformance({ open: () => openUnderTest(sharedRedisUrl()), describe, it, shared: true });
