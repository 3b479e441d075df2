import { Client, Connection } from '@temporalio/client';
import { workflowIdOf } from '../../protocol/ids.js';
import { createRedisStores } from '../../store/redis/index.js';
import { readHistory } from '../client/runs.js';
import { toLabText, type LabEntry } from '../client/lab-script.js';
import { followRaw, sayRaw } from '../client/raw-stream.js';
import { newSessionId } from '../client/chat-client.js';
import { sleep } from '../clock.js';
import { startApi, startWorker, type Servers } from '../processes/product.js';
import { cpuSeconds } from '../processes/usage.js';
import type { Contender, Page, Running, Turn } from './contender.js';

const TASK_QUEUE = 'peer-bench';
const RESTART_MS = 1_000;

/** This product with one worker and one API. @param agent selects the run's shape */
export function product(name: string, agent: string): Contender {
  return { name, start: (servers) => start(servers, agent) };
}

async function start(servers: Servers, agent: string): Promise<Running> {
  const queue = `${TASK_QUEUE}-${agent}`;
  const shape = { LAB: '1', ...(agent === 'lab-leg' && { LAB_SHAPE: 'leg' }) };
  let worker = startWorker(servers, queue, shape);
  let spent = 0;
  const api = await startApi(servers, queue, shape);
  let newest = '';
  return {
    begin: (turn, page, signal) => {
      const sessionId = newSessionId();
      newest = sessionId;
      const onEvent = createWords(page);
      const response = sayRaw(api.port, sessionId, toScript(turn), onEvent, { signal });
      return {
        response,
        attach: (shown, leave) => followRaw(api.port, sessionId, createWords(shown), leave),
      };
    },
    cpuSeconds: () => ({
      worker: spent + (cpuSeconds(worker.pid) ?? 0),
      api: cpuSeconds(api.pid) ?? 0,
    }),
    crash: async () => {
      spent += cpuSeconds(worker.pid) ?? 0;
      process.kill(worker.pid, 'SIGKILL');
      await sleep(RESTART_MS);
      worker = startWorker(servers, queue, shape);
    },
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

/** The frame `start` makes a page begin its message again. */
function createWords(page: Page): (json: string, at: number) => void {
  return (json, at) => {
    if (json.startsWith('{"type":"start"')) page.clear();
    else if (json.startsWith('{"type":"text-delta"')) {
      page.show((JSON.parse(json) as { delta: string }).delta, at);
    }
  };
}

async function historyOf(
  { redisUrl, temporalAddress }: Servers,
  sessionId: string,
): Promise<{ events: number; bytes: number }> {
  const redis = createRedisStores({ url: redisUrl, whenAway: 'wait' });
  const connection = await Connection.connect({ address: temporalAddress });
  try {
    const record = await redis.store.sessions.read(sessionId);
    const client = new Client({ connection });
    const workflowId = workflowIdOf(record?.runId ?? '');
    await client.workflow.getHandle(workflowId).result();
    return await readHistory(client, workflowId);
  } finally {
    await Promise.all([redis.close(), connection.close()]);
  }
}
