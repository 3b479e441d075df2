// `npm run words`: the project's sources and documents use an engineer's English. Prints file:line
// of each word in words/words.json. Takes files and folders as arguments; default: those that are
// clean already.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from './system/project.mjs';
import { runMain } from './system/user-error.mjs';
import { findBanned } from './words/find-banned.mjs';

/** Folders and files that stay clean. */
const CLEAN = [
  ...['agents', 'bench', 'CHANGELOG.md', 'SECURITY.md', 'docs/agents.md', 'docs/soak.md'],
  ...['docs/states.md', 'scripts', ':!scripts/defences'],
  ...['agents', 'bench', 'clients', 'config', 'docs', 'protocol', 'scripts', 'states', 'stores']
    .concat(['support', 'worker', 'workflows'])
    .map((folder) => `test/${folder}`),
];
const KINDS = ['ts', 'tsx', 'mts', 'mjs', 'cjs', 'js', 'md', 'yml'];

await runMain(() => {
  const words = JSON.parse(readFileSync(join(projectRoot, 'scripts/words/words.json'), 'utf8'));
  const places = process.argv.slice(2);
  const files = trackedFiles(places.length > 0 ? places : CLEAN);
  let found = 0;
  for (const file of files) {
    for (const { line, word } of findBanned(readFileSync(join(projectRoot, file), 'utf8'), words)) {
      process.stdout.write(`${file}:${line}: ${word}\n`);
      found += 1;
    }
  }
  process.stdout.write(`words: ${files.length} files checked, ${found} found\n`);
  if (found > 0) process.exitCode = 1;
});

function trackedFiles(places) {
  const list = execFileSync('git', ['ls-files', '-z', '--', ...places], {
    cwd: projectRoot,
    encoding: 'utf8',
  });
  const kinds = new Set(KINDS);
  return list.split('\0').filter((file) => file.includes('.') && kinds.has(file.split('.').pop()));
}
