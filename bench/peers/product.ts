import { Client, Connection } from '@temporalio/client';
import { createChatClient, newSessionId, toLabText, type LabEntry } from '../client/chat-client.js';
import { createWords } from '../client/page.js';
import { readHistory, runOf, type History } from '../client/runs.js';
import { startApi, startWorker, type Servers } from '../processes/product.js';
import { cpuSeconds } from '../processes/usage.js';
import { createRestartable, type Contender, type Running, type Turn } from './contender.js';

const TASK_QUEUE = 'peer-bench';

/** This product with one worker and one API. @param agent selects the run's shape */
export function product(name: string, agent: string): Contender {
  return { name, start: (servers) => start(servers, agent) };
}

async function start(servers: Servers, agent: string): Promise<Running> {
  const queue = `${TASK_QUEUE}-${agent}`;
  const shape = { LAB: '1', ...(agent === 'lab-leg' && { LAB_SHAPE: 'leg' }) };
  const worker = createRestartable(() => startWorker(servers, queue, shape));
  const api = await startApi(servers, queue, shape);
  const chat = createChatClient(api.port);
  let newest = '';
  return {
    begin: (turn, page, signal) => {
      const sessionId = newSessionId();
      newest = sessionId;
      return {
        response: chat.say(sessionId, toScript(turn), createWords(page), { signal }),
        attach: (shown, leave) => chat.follow(sessionId, createWords(shown), leave),
      };
    },
    cpuSeconds: () => ({ worker: worker.cpuSeconds(), api: cpuSeconds(api.pid) || 0 }),
    crash: worker.crash,
    history: () => historyOf(servers, newest),
    stop: async () => {
      await Promise.all([worker.stop(), api.stop()]);
    },
  };
}

function toScript({ steps, words, everyMs, stamp }: Turn): string {
  const script = Array.from({ length: steps }, (_, index): LabEntry => {
    const step = String(index + 1);
    const isLast = index === steps - 1;
    // Equal lengths make each delta one word.
    const names = Array.from(
      { length: words },
      (__, n) => `s${step}w${String(n + 1).padStart(4, '0')} `,
    );
    return {
      deltas: words,
      everyMs,
      ...(stamp ? { stamp } : { say: names.join('') }),
      ...(!isLast && { calls: [{ tool: 'echo', id: `c${step}`, args: { value: index } }] }),
    };
  });
  return toLabText(...script);
}

async function historyOf(servers: Servers, sessionId: string): Promise<History> {
  const connection = await Connection.connect({ address: servers.temporalAddress });
  try {
    const temporal = new Client({ connection });
    const run = await runOf({ servers, temporal }, sessionId);
    await run.result();
    return await readHistory(temporal, run.workflowId);
  } finally {
    await connection.close();
  }
}
