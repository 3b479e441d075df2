import { describe, it } from '@jest/globals';
import { storeConformance } from '../../../stores/conformance/index.js';
import { openAsUser } from '../../support/store-under-test.js';

// As a user of Redis with no more rights than the documents list.
storeConformance({ open: () => openAsUser(), describe, it, shared: true });
