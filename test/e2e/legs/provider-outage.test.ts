import '../../support/in-legs.js';

await import('../provider-outage.test.js');
