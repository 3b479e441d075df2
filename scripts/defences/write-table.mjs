import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../system/project.mjs';

const HEAD = `# Defences

Each line was tried: the defence was taken out of a copy of the project, and the named test, which
passes with it, failed without it. \`npm run defences\` does it again and writes this file; the edits
stand in [\`scripts/defences/\`](../scripts/defences/). What cannot be taken out by an edit, the death
of a process and of a connection, is tested in [\`test/stores/kill/\`](../test/stores/kill/) and
[\`test/e2e/\`](../test/e2e/), and any interleaving in the properties of
[\`stores/conformance/\`](../stores/conformance/).
`;

/** Writes docs/defences.md. */
export function writeTable(mutations) {
  const lines = mutations.map(({ defence, file, edits, suite, test }) =>
    [
      defence,
      `[\`${file}\`](../${file}): ${edits.map(toText).join('; ')}`,
      `${test} ([${suite.replace('test/', '')}](../${suite}))`,
    ].map(escape),
  );
  const rows = [['Defence', 'Taken out by', 'Test that fails'], ['---', '---', '---'], ...lines];
  const table = rows.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
  writeFileSync(join(projectRoot, 'docs/defences.md'), `${HEAD}\n${table}\n`);
}

function toText([search, replace]) {
  const code = (text) => `\`\` ${text.trim().split('\n').join(' ⏎ ')} \`\``;
  return replace.trim() === '' ? `without ${code(search)}` : `${code(search)} → ${code(replace)}`;
}

function escape(cell) {
  return cell.replaceAll('|', '\\|');
}
