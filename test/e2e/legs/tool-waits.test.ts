import '../../support/in-legs.js';

await import('../tool-waits.test.js');
