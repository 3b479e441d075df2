await import('../kill-points.test.js');
