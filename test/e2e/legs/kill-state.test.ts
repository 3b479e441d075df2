await import('../kill-state.test.js');
