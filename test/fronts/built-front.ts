import { spawn, type ChildProcess } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { installFront } from '../../scripts/clients/install-front.mjs';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const OWN = ['package.json', 'dist/ai-sdk', 'dist/protocol'];

export interface BuiltFront {
  url: string;
  close: () => void;
}

/**
 * Installs an example as its README says, builds it with its own Vite and serves it with the API
 * behind. `changed` are files that replace the example's own.
 */
export async function buildFront(
  name: string,
  apiUrl: string,
  changed: Record<string, string> = {},
): Promise<BuiltFront> {
  const modules = await installFront(name);
  const folder = mkdtempSync(join(tmpdir(), `helix-front-${name}-`));
  const close = (): void => {
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const built = ['node_modules', 'dist'];
    const source = join(ROOT, 'examples', name);
    for (const entry of readdirSync(source).filter((each) => !built.includes(each)))
      cpSync(join(source, entry), join(folder, entry), { recursive: true });
    for (const [file, text] of Object.entries(changed)) writeFileSync(join(folder, file), text);
    linkPackages(modules, join(folder, 'node_modules'));
    const vite = join(folder, 'node_modules', 'vite', 'bin', 'vite.js');
    await ended(start([vite, 'build', '--logLevel', 'warn'], folder, {}));
    const args = [vite, 'preview', '--host', '127.0.0.1', '--port', '0', '--logLevel', 'info'];
    const server = start(args, folder, { API_URL: apiUrl });
    const url = await untilServed(server);
    return {
      url,
      close: () => {
        server.kill();
        close();
      },
    };
  } catch (error) {
    close();
    throw error;
  }
}

/** Links the installed packages, and beside them this package's build. */
function linkPackages(modules: string, target: string): void {
  mkdirSync(target);
  const names = readdirSync(modules).filter((name) => !name.startsWith('.'));
  for (const name of names) symlinkSync(join(modules, name), join(target, name));
  for (const part of OWN)
    cpSync(join(ROOT, part), join(target, 'helix-temporal', part), { recursive: true });
}

function start(args: string[], cwd: string, env: Record<string, string>): ChildProcess {
  return spawn(process.execPath, args, {
    cwd,
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

async function ended(child: ChildProcess): Promise<void> {
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (text: Buffer) => (output += text.toString()));
  const code = await new Promise((resolve) => child.once('close', resolve));
  if (code !== 0) throw new Error(`vite build failed:\n${output}`);
}

function untilServed(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      if (stream === null) continue;
      createInterface(stream).on('line', (line) => {
        output += `${line}\n`;
        const url = /http:\/\/127\.0\.0\.1:\d+/.exec(line)?.[0];
        if (url !== undefined) resolve(url);
      });
    }
    child.once('close', () => {
      reject(new Error(`vite preview has ended:\n${output}`));
    });
  });
}
