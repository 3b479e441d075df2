await import('../lost-stop.test.js');
