import '../../support/in-legs.js';

await import('../cached-run.test.js');
