import '../../support/in-legs.js';

await import('../lost-stop.test.js');
