import express from 'express';
import { listen } from '../../api/listen.js';

const HOST = '127.0.0.1';

it('a port that is in use is named, and taken once it is free if there is time', async () => {
  const first = await listen(express(), 0, HOST);
  await expect(listen(express(), first.port, HOST)).rejects.toMatchObject({
    name: 'StartupError',
    message: `Cannot listen on ${HOST}:${String(first.port)}: the port is in use.`,
  });
  const waiting = listen(express(), first.port, HOST, 60_000);
  await first.close();
  const second = await waiting;
  atEndOfFile(second.close);
  expect(second.port).toBe(first.port);
});
