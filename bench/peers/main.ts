import { Redis } from 'ioredis';
import { parseArgs } from 'node:util';
import { redisPid } from '../processes/redis-pid.js';
import { cpuSeconds, siblingPid } from '../processes/usage.js';
import type { Contender, CpuSeconds } from './contender.js';
import { durableStreams } from './contenders/durable-streams.js';
import { product } from './contenders/product.js';
import { resumableStream } from './contenders/resumable-stream.js';
import { vercelWorkflow } from './contenders/vercel-workflow.js';
import { workflowStreams } from './contenders/workflow-streams.js';
import { measureContender, type Figures } from './measure-contender.js';
import { toMarkdown } from './markdown.js';
import { readVersions } from './versions.js';
import { writeTable } from './write-table.js';

const CONTENDERS: readonly Contender[] = [
  product('helix-temporal', 'lab'),
  product('helix-temporal, legs', 'lab-leg'),
  resumableStream,
  durableStreams,
  workflowStreams,
  vercelWorkflow,
];

/**
 * `npm run bench:peers`: runs inside scripts/bench-peers.mjs, which installs the peers and starts
 * the engines. `--write` puts the table into docs/peers.md.
 */
async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      quick: { type: 'boolean', default: false },
      write: { type: 'boolean', default: false },
      only: { type: 'string', multiple: true, default: [] },
    },
  });
  const redisUrl = read('TEST_REDIS_URL');
  const servers = { redisUrl, temporalAddress: read('TEST_TEMPORAL_ADDRESS') };
  const folder = read('PEERS_FOLDER');
  const pids = { redis: await redisPid(redisUrl), temporal: siblingPid('temporal') };
  const engines = (): CpuSeconds => ({
    redis: cpuSeconds(pids.redis ?? -1) ?? 0,
    temporal: cpuSeconds(pids.temporal ?? -1) ?? 0,
  });
  const startedAt = Date.now();
  const say = (text: string): void => {
    const seconds = Math.round((Date.now() - startedAt) / 1000);
    process.stderr.write(`${String(seconds).padStart(4)} s  ${text}\n`);
  };
  const chosen = CONTENDERS.filter(
    ({ name }) =>
      values.only.length === 0 || values.only.some((part) => name.toLowerCase().includes(part)),
  );
  const all: Figures[] = [];
  for (const contender of chosen) {
    const redis = new Redis(redisUrl);
    await redis.flushall();
    redis.disconnect();
    const isQuick = values.quick;
    all.push(await measureContender({ contender, servers, folder, engines, isQuick, say }));
  }
  const versions = readVersions(folder);
  const table = toMarkdown(all, versions);
  process.stdout.write(`${table}\n`);
  if (!values.write) return;
  writeTable('docs/peers.md', table);
}

function read(name: string): string {
  const value = process.env[name];
  if (value === undefined)
    throw new Error(`${name} is not set: start this by npm run bench:peers.`);
  return value;
}

await main();
process.exit(0);
