import '../../support/in-legs.js';

await import('../kill-state.test.js');
