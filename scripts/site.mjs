// `npm run site`: builds the documentation into site/dist, with search; a dead link ends it.
// `npm run site -- --serve` serves it while documents are edited (start it again for new text).
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { installPackages } from './install.mjs';
import { pagesOf } from './site/pages.mjs';
import { referenceOf } from './site/reference.mjs';
import { runInForeground } from './system/run-in-foreground.mjs';
import { isMain, projectRoot } from './system/project.mjs';
import { runMain } from './system/user-error.mjs';

const site = join(projectRoot, 'site');

const STATES = `# States and events

The outcome of every event in every state of a conversation: the store's reply, and after the arrow the run's new status if it
changes. Every pair has a defined outcome, none is a server error, and a reply that refuses changes nothing.

`;

/** Writes all pages below site/.data/pages. */
function writePages() {
  const folder = join(site, '.data/pages');
  rmSync(folder, { recursive: true, force: true });
  const outcomes = readFileSync(join(projectRoot, 'test/states/outcomes.txt'), 'utf8');
  const states = ['reference/states.md', `${STATES}${outcomes}`];
  for (const [page, text] of [...pagesOf(projectRoot), ...referenceOf(projectRoot), states]) {
    const file = join(folder, page);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  cpSync(join(projectRoot, 'docs/media'), join(folder, 'docs/media'), { recursive: true });
  mkdirSync(join(folder, 'public'), { recursive: true });
  cpSync(join(projectRoot, 'llms.txt'), join(folder, 'public/llms.txt'));
  // Pictures that a page links to, and does not show, are served as they are.
  cpSync(join(projectRoot, 'docs/media'), join(folder, 'public/docs/media'), { recursive: true });
}

if (isMain(import.meta.url)) {
  await runMain(async () => {
    const run = (...command) => runInForeground(command[0], command.slice(1), { cwd: site });
    await installPackages(site);
    writePages();
    const verb = process.argv.includes('--serve') ? 'dev' : 'build';
    process.exitCode = await run('npx', 'vitepress', verb);
  });
}
