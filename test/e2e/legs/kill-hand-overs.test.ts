await import('../kill-hand-overs.test.js');
