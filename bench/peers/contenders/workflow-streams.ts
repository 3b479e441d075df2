import { join } from 'node:path';
import { freePort, untilReady } from '../../processes/product.js';
import type { Contender } from '../contender.js';
import { beginOver, readPeerHistory, type Position } from '../http-turns.js';
import { startPeer } from '../peer-process.js';

/** Temporal's own integration of the AI SDK: the stream is kept in the workflow. */
export const workflowStreams: Contender = {
  name: '@temporalio/workflow-streams + ai-sdk',
  note: 'with the defaults of its documentation: batches of 100 ms, polls 100 ms apart',
  start: async ({ temporalAddress }, folder) => {
    const port = await freePort();
    const env = { PORT: String(port), TEMPORAL_ADDRESS: temporalAddress };
    const home = join(folder, 'workflow-streams');
    const [worker, server] = [
      startPeer(home, 'worker.mjs', env),
      startPeer(home, 'server.mjs', env),
    ];
    await untilReady(`http://127.0.0.1:${String(port)}/ready`);
    let newest: Position | undefined;
    return {
      begin: (turn, page, signal) => {
        const begun = beginOver(port, turn, page, signal);
        newest = begun.position;
        return begun;
      },
      cpuSeconds: () => ({ worker: worker.cpuSeconds(), server: server.cpuSeconds() }),
      crash: worker.crash,
      history: () => readPeerHistory(port, newest ?? { id: '', words: 0, chars: 0 }),
      stop: async () => {
        await Promise.all([worker.stop(), server.stop()]);
      },
    };
  },
};
