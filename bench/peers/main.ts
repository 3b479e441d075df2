import { Redis } from 'ioredis';
import { createSay, readVariable, runProgram } from '../command.js';
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

interface Options {
  quick: boolean;
  write: boolean;
  /** Parts of names. */
  only?: readonly string[];
}

/** `npm run bench:peers`: compares peers, which scripts/bench.mjs installs. */
runProgram<Options>(async ({ quick, write, only = [''] }, servers) => {
  const { redisUrl } = servers;
  const folder = readVariable('PEERS_FOLDER');
  const pids = { redis: await redisPid(redisUrl), temporal: siblingPid('temporal') };
  const engines = (): CpuSeconds => ({
    redis: cpuSeconds(pids.redis) || 0,
    temporal: cpuSeconds(pids.temporal) || 0,
  });
  const say = createSay();
  const all: Figures[] = [];
  for (const contender of CONTENDERS) {
    const name = contender.name.toLowerCase();
    if (!only.some((part) => name.includes(part))) continue;
    const redis = new Redis(redisUrl);
    await redis.flushall();
    redis.disconnect();
    all.push(await measureContender(contender, { servers, folder, engines, quick, say }));
  }
  const table = toMarkdown(all, readVersions(folder));
  process.stdout.write(`${table}\n`);
  if (write) writeTable('docs/peers.md', table);
});
