import '../../support/in-legs.js';

await import('../sub-agents.test.js');
