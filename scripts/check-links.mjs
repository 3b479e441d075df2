// `npm run links`: every link between the project's documents, and every document that a comment
// names, leads somewhere. Takes another project's folder as an argument.
import { findBrokenLinks } from './links/find-broken-links.mjs';
import { projectRoot } from './system/project.mjs';
import { runMain } from './system/user-error.mjs';

await runMain(async () => {
  const { checked, broken } = findBrokenLinks(process.argv[2] ?? projectRoot);
  for (const { file, line, target, why } of broken) {
    process.stdout.write(`${file}:${line}: ${target}: ${why}\n`);
  }
  process.stdout.write(`links: ${checked} checked, ${broken.length} broken\n`);
  if (broken.length > 0) process.exitCode = 1;
});
