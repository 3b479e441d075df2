import '../../support/in-legs.js';

await import('../kill-hand-overs.test.js');
