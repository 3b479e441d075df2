import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { wallClock } from '../../clock.js';
import { readRaw } from '../../client/raw-stream.js';
import { newSessionId } from '../../client/session-ids.js';
import { freePort, untilReady } from '../../processes/product.js';
import type { BegunTurn, Contender, Page } from '../contender.js';
import { startPeer } from '../peer-process.js';

/** A server of append-only streams; readers connect to it, a process of its own writes. */
export const durableStreams: Contender = {
  name: 'Durable Streams server (Node, files)',
  withoutSteps: 'stores streams; steps, retries and waits are the application’s',
  start: async (_, folder) => {
    const [port, streamsPort] = [await freePort(), await freePort()];
    const data = mkdtempSync(join(tmpdir(), 'helix-peer-'));
    const env = { PORT: String(port), STREAMS_PORT: String(streamsPort), DATA_FOLDER: data };
    const home = join(folder, 'durable-streams');
    const [streams, writer] = [
      startPeer(home, 'streams.mjs', env),
      startPeer(home, 'server.mjs', env),
    ];
    await untilReady(`http://127.0.0.1:${String(port)}/ready`);
    return {
      begin: (turn, page, signal): BegunTurn => {
        const id = newSessionId();
        let offset = '-1';
        const read = (shown: Page, leave: AbortSignal): Promise<void> =>
          readRaw({
            port: streamsPort,
            method: 'GET',
            path: `/turns/${id}?offset=${offset}&live=sse`,
            onPiece: createStreamLines(shown, (next) => (offset = next)),
            signal: leave,
          });
        const posted = fetch(`http://127.0.0.1:${String(port)}/turns/${id}`, {
          method: 'POST',
          body: JSON.stringify(turn),
        });
        return { response: posted.then(() => read(page, signal)), attach: read };
      },
      cpuSeconds: () => ({ server: streams.cpuSeconds(), writer: writer.cpuSeconds() }),
      crash: writer.crash,
      stop: async () => {
        await Promise.all([streams.stop(), writer.stop()]);
        rmSync(data, { recursive: true, force: true });
      },
    };
  },
};

/** Its lines are `data:<word>` and, after each batch, `data:{…}` with the position. */
function createStreamLines(page: Page, onOffset: (offset: string) => void) {
  let rest = '';
  return (piece: string): void => {
    const at = wallClock();
    const lines = (rest + piece).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const data = line.trimEnd();
      if (!data.startsWith('data:') || data.length === 5) continue;
      const next = /^data:\{"streamNextOffset":"([^"]+)"/.exec(data)?.[1];
      if (next !== undefined) onOffset(next);
      else page.show(data.slice(5), at);
    }
  };
}
