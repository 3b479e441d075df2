import '../../support/in-legs.js';

await import('../kill-points.test.js');
