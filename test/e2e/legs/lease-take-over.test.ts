import '../../support/in-legs.js';

await import('../lease-take-over.test.js');
