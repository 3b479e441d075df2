// `npm run words`: the project's sources and documents use an engineer's English. Prints file:line
// of each word in words/words.json. Takes files and folders as arguments; default: all of them.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { projectRoot } from './system/project.mjs';
import { runMain } from './system/user-error.mjs';
import { findBanned } from './words/find-banned.mjs';

/** Texts of recorded conversations, which stay as they are. */
const RECORDED = [':!test/ai-sdk/recorded/scenarios.ts'];
const KINDS = ['ts', 'tsx', 'mts', 'mjs', 'cjs', 'js', 'md', 'yml'];

await runMain(() => {
  const words = JSON.parse(readFileSync(join(projectRoot, 'scripts/words/words.json'), 'utf8'));
  const files = trackedFiles(process.argv.slice(2));
  let found = 0;
  for (const file of files) {
    const text = readFileSync(join(projectRoot, file), 'utf8');
    for (const { line, word } of findBanned(text, words)) {
      process.stdout.write(`${file}:${line}: ${word}\n`);
      found += 1;
    }
  }
  process.stdout.write(`words: ${files.length} files checked, ${found} found\n`);
  if (found > 0) process.exitCode = 1;
});

function trackedFiles(places) {
  const list = execFileSync('git', ['ls-files', '-z', '--', ...places, ...RECORDED], {
    cwd: projectRoot,
    encoding: 'utf8',
  });
  const kinds = new Set(KINDS);
  return list
    .split('\0')
    .filter((file) => kinds.has(extname(file).slice(1)) && existsSync(join(projectRoot, file)));
}
