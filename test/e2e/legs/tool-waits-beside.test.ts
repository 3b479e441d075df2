await import('../tool-waits-beside.test.js');
