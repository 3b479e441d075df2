import '../../support/in-legs.js';

await import('../kill-effects.test.js');
