import '../../support/in-legs.js';

await import('../traces.test.js');
