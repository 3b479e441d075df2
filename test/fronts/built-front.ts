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
import { fileURLToPath } from 'node:url';
import { installFront } from '../../scripts/clients/install-front.mjs';
import { startProgram } from '../support/program.js';

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
    const building = startProgram(process.execPath, [vite, 'build', '--logLevel', 'warn'], {
      cwd: folder,
    });
    const { code } = await building.ended;
    if (code !== 0) throw new Error(`vite build failed:\n${building.output()}`);
    const args = [vite, 'preview', '--host', '127.0.0.1', '--port', '0', '--logLevel', 'info'];
    const env = { API_URL: apiUrl };
    const server = startProgram(process.execPath, args, { cwd: folder, env });
    const find = (lines: string) => /http:\/\/127\.0\.0\.1:\d+/.exec(lines)?.[0];
    const url = await server.prints('its address', find);
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
