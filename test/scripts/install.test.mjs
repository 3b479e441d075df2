import { isInstalled } from '../../scripts/install.mjs';
import { useTempFolders, writeText } from './temp-folder.mjs';

const tempFolder = useTempFolders();

function project({ wanted, installed }) {
  const root = tempFolder();
  const packages = { '': { name: 'x' }, ...wanted };
  writeText(root, 'package-lock.json', JSON.stringify({ packages }));
  if (installed) {
    writeText(root, 'node_modules/.package-lock.json', JSON.stringify({ packages: installed }));
  }
  return root;
}

const a1 = { 'node_modules/a': { version: '1.0.0' } };
const a2 = { 'node_modules/a': { version: '2.0.0' } };
const forMac = { 'node_modules/b': { version: '1.0.0', optional: true } };

test.each([
  ['nothing is installed', { wanted: a1 }, false],
  ['everything is installed', { wanted: a1, installed: a1 }, true],
  ['another version is installed', { wanted: a2, installed: a1 }, false],
  ['one is missing', { wanted: { ...a1, ...forMac }, installed: forMac }, false],
  ['one for another system is missing', { wanted: { ...a1, ...forMac }, installed: a1 }, true],
])('%s', (_name, packages, expected) => {
  expect(isInstalled(project(packages))).toBe(expected);
});
