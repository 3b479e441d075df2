// TypeScript → JavaScript, file by file: types are dropped, not checked (`npm run types` does that).
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { UserError } from '../system/user-error.mjs';
import { fingerprint, listSources } from './sources.mjs';
import { readStamp, writeAtomically, writeStamp } from './stamp.mjs';

const PART = 'sources';

/** Returns how many files were written. */
export async function transformSources(root, dist, toolVersions) {
  const before = readStamp(dist, PART) ?? {};
  const after = {};
  const changed = [];
  for (const file of listSources(root)) {
    after[file] = fingerprint(root, [file], swcOptions(file), toolVersions);
    if (before[file] !== after[file] || !existsSync(join(dist, outputOf(file)))) changed.push(file);
  }
  const gone = Object.keys(before).filter((file) => !(file in after));
  if (changed.length === 0 && gone.length === 0) return 0;

  // Loaded only here: a start with nothing to build should not pay for it.
  const swc = changed.length > 0 ? await import('@swc/core') : undefined;
  await Promise.all(changed.map((file) => writeOutput(swc, root, dist, file)));
  for (const file of gone) {
    rmSync(join(dist, outputOf(file)), { force: true });
  }
  writeStamp(dist, PART, after);
  return changed.length;
}

async function writeOutput(swc, root, dist, file) {
  const source = readFileSync(join(root, file), 'utf8');
  const output = join(dist, outputOf(file));
  const { code } = await swc
    .transform(source, { ...swcOptions(file), filename: join(root, file) })
    .catch((error) => {
      // Behind the picture of the code comes only the compiler's own stack.
      const [picture] = error.message.split('Caused by:');
      throw new UserError(`${file} cannot be compiled:\n${picture.trim()}`);
    });
  writeAtomically(output, code);
}

function outputOf(file) {
  return file.replace(/\.tsx?$/, '.js');
}

export function swcOptions(file) {
  return {
    swcrc: false,
    configFile: false,
    // The output is the source without its types: maps would be half of the package.
    sourceMaps: false,
    module: { type: 'es6' },
    jsc: {
      target: 'es2023',
      parser: { syntax: 'typescript', tsx: file.endsWith('.tsx') },
      transform: { react: { runtime: 'automatic' }, verbatimModuleSyntax: true },
    },
  };
}
