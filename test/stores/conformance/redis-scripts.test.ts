import { describe, it } from '@jest/globals';
import { storeConformance } from '../../../stores/conformance/index.js';
import { NO_FUNCTIONS, SCRIPTS } from '../../support/redis-user.js';
import { openAsUser } from '../../support/store-under-test.js';

// As a user of Redis who may not use functions.
const open = () => openAsUser(...NO_FUNCTIONS, ...SCRIPTS);
storeConformance({ open, describe, it, shared: true, runs: 10 });
