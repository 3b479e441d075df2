import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, untilReady } from '../../processes/product.js';
import type { Contender } from '../contender.js';
import { beginOver, readPeerHistory, type Position } from '../http-turns.js';
import { startPeer } from '../peer-process.js';

/** The Workflow SDK with its local world, built by Nitro: one process, files. */
export const vercelWorkflow: Contender = {
  name: 'workflow (local world)',
  note: 'its local world is meant for development; elsewhere it runs on a hosted service or Postgres',
  start: async (_, folder) => {
    const port = await freePort();
    const data = mkdtempSync(join(tmpdir(), 'helix-peer-'));
    const env = { PORT: String(port), HOST: '127.0.0.1', WORKFLOW_LOCAL_DATA_DIR: data };
    const home = join(folder, 'vercel-workflow');
    const server = startPeer(home, '.output/server/index.mjs', env);
    await untilReady(`http://127.0.0.1:${String(port)}/ready`);
    let newest: Position | undefined;
    return {
      begin: (turn, page, signal) => {
        const begun = beginOver(port, turn, page, signal);
        newest = begun.position;
        return begun;
      },
      cpuSeconds: () => ({ server: server.cpuSeconds() }),
      crash: server.crash,
      history: () => readPeerHistory(port, newest ?? { id: '', words: 0, chars: 0 }),
      stop: async () => {
        await server.stop();
        rmSync(data, { recursive: true, force: true });
      },
    };
  },
};
