import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { takeSamples, type Take } from '../bench.js';
import { createChatClient, newSessionId } from '../client/chat-client.js';
import { sleep, wallClock } from '../clock.js';
import { startProduct } from '../processes/product.js';
import { row } from '../report.js';

/** Time from an HTTP stop until the worker closes the provider's socket, against a plain Temporal cancellation. */
export const take: Take = async ({ quick, servers, say, floor }) => {
  const provider = await startSilentProvider();
  const product = await startProduct(servers, 'bench-stops', {
    MODEL: 'openai-compatible:bench',
    OPENAI_COMPATIBLE_BASE_URL: provider.url,
  });
  const chat = createChatClient(product.port, 'support');
  try {
    say('stop-latency: a silent model');
    const stops = await takeSamples({ warmUp: 2, count: quick ? 5 : 100 }, async () => {
      const sessionId = newSessionId();
      const call = provider.nextCall();
      const reply = chat.say(sessionId, 'Hello.');
      const { closed } = await call;
      // A random moment between heartbeats, tokens and polls.
      await sleep(50 + Math.random() * 100);
      const from = wallClock();
      await chat.stop(sessionId);
      const closedAt = await closed;
      await reply;
      return closedAt - from;
    });
    say('stop-latency: cancelling bare activities');
    const cancels = await takeSamples({ count: quick ? 2 : 10 }, async () => {
      const { cancel } = await floor.startHanging();
      await sleep(Math.random() * 1000);
      const from = wallClock();
      return (await cancel()) - from;
    });
    return [
      row("stop of a silent model → provider's socket closed", 'ms', stops, {
        beside: ['cancel → bare activity, 1 s heartbeat', cancels],
        aim: { p99: 250 },
      }),
    ];
  } finally {
    await product.stop();
    provider.close();
  }
};

/** A model provider that takes calls and never answers. */
interface SilentProvider {
  url: string;
  /** Resolves when the next call has come; `closed` resolves to the time when its socket was closed. */
  nextCall: () => Promise<{ closed: Promise<number> }>;
  close: () => void;
}

async function startSilentProvider(): Promise<SilentProvider> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${String(port)}/v1`,
    nextCall: () =>
      new Promise((resolve) => {
        server.once('request', ({ socket }) => {
          resolve({ closed: once(socket, 'close').then(wallClock) });
        });
      }),
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
