// One Compose file in a folder of its own, as a person with `docker compose` has it.
import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { waitUntil } from '../start/wait-until.mjs';
import { anyFreePort } from '../system/ports.mjs';
import { lastLines, runCommand } from '../system/run-command.mjs';
import { hostOptions } from './images.mjs';

const LONGEST_MS = 900_000;
const BACK_WITHIN_MS = 60_000;

export async function openComposition(engine, { folder, file, name }) {
  const port = await anyFreePort();
  const env = { ...engine.env, COMPOSE_PROJECT_NAME: name };
  if (engine.isOwn) {
    // JSON is YAML.
    const override = { services: { api: { build: hostOptions() } } };
    writeFileSync(join(folder, 'build.json'), JSON.stringify(override));
    env.COMPOSE_FILE = `${file}:build.json`;
  }
  const attempt = (command, ...args) =>
    runCommand(command, args, { cwd: folder, env, timeoutMs: LONGEST_MS });
  const run = async (command, ...args) => {
    const { code, stdout, stderr } = await attempt(command, ...args);
    if (code === 0) return stdout.trim();
    throw new Error(`${[command, ...args].join(' ')}: ${lastLines(stderr || stdout, 8)}`);
  };
  const compose = (...args) => run('docker', 'compose', ...args);

  async function processOf(service) {
    const [container] = (await compose('ps', '-q', service)).split('\n');
    const pid = container && (await run('docker', 'inspect', '-f', '{{.State.Pid}}', container));
    return { container, pid: Number(pid ?? 0) };
  }

  return {
    url: `http://localhost:${port}`,
    attempt,
    run,
    compose,
    /** Writes .env as the file's head says, and ports that are free here. */
    choose: async (choice, script, ...settings) => {
      await run('sh', script, choice);
      const ports = ['TEMPORAL_UI_PORT', 'GRAFANA_PORT'].map(
        async (key) => `${key}=${await anyFreePort()}`,
      );
      const lines = [`PORT=${port}`, ...(await Promise.all(ports)), ...settings];
      appendFileSync(join(folder, '.env'), `${lines.join('\n')}\n`);
    },
    up: (...args) => compose('up', '--wait', ...args),
    down: (...args) => compose('down', '--remove-orphans', ...args),
    /** Ends its first process as a crash does; resolves when the restart policy has it back. */
    kill: async (service) => {
      const { container, pid } = await processOf(service);
      if (!(pid > 1)) throw new Error(`${service} is not running`);
      if (engine.isOwn) process.kill(pid, 'SIGKILL');
      else {
        // Its processes may be another machine's.
        await run('docker', 'kill', container);
        await run('docker', 'start', container);
      }
      const isBack = async () => ![0, pid].includes((await processOf(service)).pid);
      if (!(await waitUntil(isBack, { withinMs: BACK_WITHIN_MS })))
        throw new Error(`${service} stays away`);
    },
    logs: async () =>
      lastLines((await attempt('docker', 'compose', 'logs', '--tail', '15')).stdout, 80),
  };
}
