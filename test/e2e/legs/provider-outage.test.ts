await import('../provider-outage.test.js');
