await import('../traces.test.js');
