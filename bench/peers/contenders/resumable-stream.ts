import { join } from 'node:path';
import { freePort, untilReady } from '../../processes/product.js';
import type { Contender } from '../contender.js';
import { beginOver } from '../http-turns.js';
import { startPeer } from '../peer-process.js';

/** The reply is made in the web process, and Redis carries it to later readers. */
export const resumableStream: Contender = {
  name: 'resumable-stream',
  withoutSteps: 'carries one stream; steps, retries and waits are the application’s',
  note: 'the first reader is served by the process that makes the reply, without Redis',
  start: async ({ redisUrl }, folder) => {
    const port = await freePort();
    const server = startPeer(join(folder, 'resumable-stream'), 'server.mjs', {
      PORT: String(port),
      REDIS_URL: redisUrl,
    });
    await untilReady(`http://127.0.0.1:${String(port)}/ready`);
    return {
      begin: (turn, page, signal) => beginOver(port, turn, page, signal),
      cpuSeconds: () => ({ server: server.cpuSeconds() }),
      crash: server.crash,
      stop: server.stop,
    };
  },
};
