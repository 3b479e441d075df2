import '../../support/in-legs.js';

await import('../tool-waits-beside.test.js');
