// The product with a data folder of its own, as `npm start` runs it, for scripts that look at its page.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { waitUntil } from '../start/wait-until.mjs';
import { anyFreePort } from './ports.mjs';
import { projectRoot } from './project.mjs';
import { UserError } from './user-error.mjs';

const START_MS = 300_000;

/**
 * @param programs paths of the engines, by environment variable
 * @param settings further ones of its environment
 */
export async function runProduct(folder, programs, settings = {}) {
  const env = {
    ...process.env,
    ...programs,
    ...{ DATA_DIR: folder, PORT: String(await anyFreePort()), TEMPORAL_UI: '1' },
    ...settings,
  };
  const child = spawn(process.execPath, [join(projectRoot, 'scripts/start.mjs')], { env });
  const exited = once(child, 'close');
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += text));
  const ready = await waitUntil(() => output.includes('Ctrl-C stops'), { withinMs: START_MS });
  if (!ready) throw new UserError(`the product did not start:\n${output}`);
  /** The address that it prints under a name; undefined for what is off. */
  const urlOf = (label) => new RegExp(`${label} +(http\\S+)`).exec(output)?.[1];
  const stop = async () => {
    child.kill('SIGTERM');
    await exited;
  };
  return {
    stop,
    /** What it printed so far. */
    output: () => output,
    url: urlOf('Chat page'),
    temporalUiUrl: urlOf('Temporal UI'),
    benchUrl: urlOf('Chaos bench'),
  };
}
