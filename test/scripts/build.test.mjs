import { existsSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { build } from '../../scripts/build.mjs';
import { projectRoot } from '../../scripts/system/project.mjs';
import { useTempFolders, writeText } from './temp-folder.mjs';

const tempFolder = useTempFolders();

function project() {
  const root = tempFolder();
  symlinkSync(join(projectRoot, 'node_modules'), join(root, 'node_modules'));
  writeText(root, 'package-lock.json', '{}');
  writeText(root, 'index.ts', "export { one } from './protocol/one.js';\n");
  writeText(root, 'protocol/one.ts', 'export const one: number = 1;\n');
  return root;
}

const textOf = (root, path) => readFileSync(join(root, 'dist', path), 'utf8');
/** The build replaces outputs and never writes in place, so a new inode means a rebuilt file. */
const inode = (root, path) => statSync(join(root, 'dist', path)).ino;

describe('the build', () => {
  test('the build keeps the paths and drops the types', async () => {
    const root = project();
    await build({ root });
    expect(textOf(root, 'index.js')).toContain("from './protocol/one.js'");
    expect(textOf(root, 'protocol/one.js')).toMatch(/^export const one = 1;/);
  });

  test('the build compiles only what has changed', async () => {
    const root = project();
    await build({ root });
    const before = [inode(root, 'index.js'), inode(root, 'protocol/one.js')];
    writeText(root, 'protocol/one.ts', 'export const one: number = 2;\n');
    await build({ root });
    expect(inode(root, 'index.js')).toBe(before[0]);
    expect(inode(root, 'protocol/one.js')).not.toBe(before[1]);
  });

  test('the build restores missing files, and removes those without a source', async () => {
    const root = project();
    await build({ root });
    rmSync(join(root, 'dist/index.js'));
    rmSync(join(root, 'protocol/one.ts'));
    await build({ root });
    expect(existsSync(join(root, 'dist/index.js'))).toBe(true);
    expect(existsSync(join(root, 'dist/protocol/one.js'))).toBe(false);
  });

  test('two concurrent builds compile everything once', async () => {
    const root = project();
    await Promise.all([build({ root }), build({ root })]);
    expect(textOf(root, 'index.js')).toContain('one');
    expect(existsSync(join(root, 'dist/.build.lock'))).toBe(false);
  });

  test('the build reports broken TypeScript, and succeeds once it is fixed', async () => {
    const root = project();
    writeText(root, 'protocol/one.ts', 'export const = ;\n');
    await expect(build({ root })).rejects.toThrow('protocol/one.ts cannot be compiled');
    writeText(root, 'protocol/one.ts', 'export const one = 3;\n');
    await build({ root });
    expect(textOf(root, 'protocol/one.js')).toContain('one = 3');
  });
});

test('the workflow bundle is made again when a file changes that a workflow imports', async () => {
  const root = project();
  const workflow =
    "import { one } from '../protocol/one.js';\nexport const run = async () => one;\n";
  writeText(root, 'extensions/workflows.ts', workflow);
  await build({ root });
  const before = inode(root, 'workflows/bundle.js');
  await build({ root });
  expect(inode(root, 'workflows/bundle.js')).toBe(before);

  writeText(root, 'protocol/one.ts', 'export const one: number = 4711;\n');
  await build({ root });
  expect(textOf(root, 'workflows/bundle.js')).toContain('4711');
});
