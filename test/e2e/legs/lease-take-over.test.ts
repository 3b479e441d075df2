await import('../lease-take-over.test.js');
