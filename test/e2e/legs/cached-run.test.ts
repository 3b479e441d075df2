await import('../cached-run.test.js');
