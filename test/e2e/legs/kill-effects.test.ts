await import('../kill-effects.test.js');
