await import('../kill-worker.test.js');
