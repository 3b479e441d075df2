await import('../crash-loops.test.js');
