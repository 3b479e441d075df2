import { getWritable } from 'workflow';
import { sayWords } from '../shared/words.mjs';

interface Work {
  steps: number;
  words: number;
  everyMs: number;
  stamp: boolean;
}

async function callModel(step: number, work: Work): Promise<void> {
  'use step';
  const writer = getWritable<string>().getWriter();
  for await (const word of sayWords(step, work)) await writer.write(`data: ${word}\n\n`);
  writer.releaseLock();
}

async function echo(value: number): Promise<number> {
  'use step';
  return value;
}

async function close(): Promise<void> {
  'use step';
  await getWritable<string>().close();
}

/** Runs a turn; model calls and tool calls are steps of the workflow. */
export async function turn(work: Work): Promise<void> {
  'use workflow';
  for (let step = 1; step <= work.steps; step += 1) {
    await callModel(step, work);
    if (step < work.steps) await echo(step);
  }
  await close();
}
