import '../../support/in-legs.js';

await import('../crash-loops.test.js');
