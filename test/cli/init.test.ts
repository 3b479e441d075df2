import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { runCommand } from '../support/command-line.js';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'helix-init-'));
});
afterEach(() => rm(folder, { recursive: true }));

it('init writes an app that is named after its folder, and says what comes next', async () => {
  const { code, stdout } = await runCommand(['init', 'My Shop!'], { folder });
  expect([code, stdout]).toEqual([0, expect.stringContaining("cd 'My Shop!'\n  npm install")]);
  const files = readdirSync(join(folder, 'My Shop!'));
  expect(files).toEqual(expect.arrayContaining(['.gitignore', 'agents.ts', 'compose.yaml', 'src']));
  expect(files.filter((name) => name.startsWith('_'))).toEqual([]);
  const ignored = readFileSync(join(folder, 'My Shop!/.dockerignore'), 'utf8').split('\n');
  expect(ignored).toEqual(
    expect.arrayContaining(['.env*', '.helix', '**/node_modules', 'dist', 'payments.log', '.git']),
  );
  const text = readFileSync(join(folder, 'My Shop!/package.json'), 'utf8');
  expect(JSON.parse(text)).toMatchObject({ name: 'my-shop' });
});

it('init overwrites nothing', async () => {
  await writeFile(join(folder, 'agents.ts'), 'mine');
  const { code, stderr } = await runCommand(['init'], { folder });
  expect([code, stderr]).toEqual([64, expect.stringContaining('has agents.ts already')]);
  expect(readFileSync(join(folder, 'agents.ts'), 'utf8')).toBe('mine');
  expect(existsSync(join(folder, 'package.json'))).toBe(false);
});

it('init from a tarball takes it along, since an image is built from the folder alone', async () => {
  const packages = join(folder, 'node_modules');
  const templates = join(packages, 'helix-temporal/templates');
  await cp(fileURLToPath(new URL('../../templates', import.meta.url)), templates, {
    recursive: true,
  });
  await writeFile(join(folder, 'some.tgz'), 'packed');
  const installed = { 'node_modules/helix-temporal': { resolved: 'file:some.tgz' } };
  await writeFile(join(packages, '.package-lock.json'), JSON.stringify({ packages: installed }));
  const code = `import { writeApp } from '${join(templates, 'write-app.mjs')}'; console.log(writeApp('app'));`;
  const run = promisify(execFile);
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', code], {
    cwd: folder,
  });
  expect(stdout).toContain('It depends on file:some.tgz');
  expect(readFileSync(join(folder, 'app/some.tgz'), 'utf8')).toBe('packed');
  const app: unknown = JSON.parse(readFileSync(join(folder, 'app/package.json'), 'utf8'));
  expect(app).toMatchObject({ dependencies: { 'helix-temporal': 'file:some.tgz' } });
});

it('npm create helix-temporal writes the same, from a package of its own', async () => {
  const create = fileURLToPath(new URL('../../create', import.meta.url));
  const run = promisify(execFile);
  await run('npm', ['pack', '--pack-destination', folder], { cwd: create });
  const [tarball = ''] = readdirSync(folder);
  await run('tar', ['-xzf', tarball], { cwd: folder });
  await run(process.execPath, ['package/index.mjs', 'created'], { cwd: folder });
  await runCommand(['init', 'written'], { folder });
  const list = (name: string) => readdirSync(join(folder, name), { recursive: true }).sort();
  expect(list('created')).toEqual(list('written'));
  const versionOf = (path: string) =>
    (JSON.parse(readFileSync(path, 'utf8')) as { version: string }).version;
  expect(versionOf(join(create, 'package.json'))).toBe(versionOf('package.json'));
});
