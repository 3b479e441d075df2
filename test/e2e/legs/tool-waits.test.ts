await import('../tool-waits.test.js');
