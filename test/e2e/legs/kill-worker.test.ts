import '../../support/in-legs.js';

await import('../kill-worker.test.js');
