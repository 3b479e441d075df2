await import('../sub-agents.test.js');
