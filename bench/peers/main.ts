import { parseArgs } from 'node:util';
import { Redis } from 'ioredis';
import { createSay, readServers, readVariable, runProgram } from '../command.js';
import { cpuSeconds, redisPid, siblingPid } from '../processes/usage.js';
import type { Contender, CpuSeconds } from './contender.js';
import { measureContender, type Figures } from './measure-contender.js';
import { durableStreams, resumableStream, vercelWorkflow, workflowStreams } from './peers.js';
import { product } from './product.js';
import { readVersions, toMarkdown, writeTable } from './table.js';

const CONTENDERS: readonly Contender[] = [
  product('helix-temporal', 'lab'),
  product('helix-temporal, legs', 'lab-leg'),
  resumableStream,
  durableStreams,
  workflowStreams,
  vercelWorkflow,
];

/**
 * `npm run bench:peers`: compares peers. scripts/bench.mjs installs them and starts the engines. `--write`
 * puts the table into docs/peers.md.
 */
async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      quick: { type: 'boolean', default: false },
      write: { type: 'boolean', default: false },
      only: { type: 'string', multiple: true, default: [] },
    },
  });
  const servers = readServers();
  const { redisUrl } = servers;
  const folder = readVariable('PEERS_FOLDER');
  const pids = { redis: await redisPid(redisUrl), temporal: siblingPid('temporal') };
  const engines = (): CpuSeconds => ({
    redis: cpuSeconds(pids.redis ?? -1) ?? 0,
    temporal: cpuSeconds(pids.temporal ?? -1) ?? 0,
  });
  const say = createSay();
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

runProgram(main);
