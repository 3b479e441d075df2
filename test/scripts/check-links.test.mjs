import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { anchorsIn } from '../../scripts/check-links.mjs';
import { projectRoot } from '../../scripts/system/project.mjs';
import { useTempFolders, writeText } from './temp-folder.mjs';

const makeFolder = useTempFolders();
// The pieces keep the checker from taking these lines for links to documents.
const GUIDE = `${'GUIDE'}.md`;

function checkLinks(folder) {
  const script = join(projectRoot, 'scripts/check-links.mjs');
  const { status, stdout } = spawnSync(process.execPath, [script, folder], { encoding: 'utf8' });
  return { status, lines: stdout.trim().split('\n') };
}

test('links that lead somewhere pass', () => {
  const folder = makeFolder();
  writeText(
    folder,
    'docs/notes.md',
    `
# Notes
[up](../${GUIDE}) [same page](#notes) [heading](../${GUIDE}#it-works-a-b) [folder](../src/)
[titled](../${GUIDE} "a title") [angled](<../a b.md>) [escaped](../a%20b.md) [root](/${GUIDE}#twice-1)
[code](../src/code.ts#L1) [web](https://example.org/gone.md#x) [mail](mailto:a@b.c) [defined][one]
\`[not a link](gone.md)\`

[one]: ../${GUIDE}#own-anchor

\`\`\`md
[not a link either](gone.md)
# not a heading
\`\`\`
`,
  );
  writeText(
    folder,
    GUIDE,
    '# It works: `a` *b*?\n<a id="own-anchor"></a>\n## Twice\n## Twice ##\n[x](#it-works-a-b)\n',
  );
  writeText(folder, 'a b.md', '');
  writeText(
    folder,
    'src/code.ts',
    `// see ${GUIDE}#twice and https://example.org/gone.md\nconst x = '${'gone'}.md';\n`,
  );
  writeText(folder, 'node_modules/x/README.md', '[gone](gone.md)');
  expect(checkLinks(folder)).toEqual({ status: 0, lines: ['links: 12 checked, 0 broken'] });
});

test('each broken link is named with its place, and the check fails', () => {
  const folder = makeFolder();
  writeText(
    folder,
    GUIDE,
    '# Guide\n\n[a](gone.md) and [b](#gone)\n\n```\n# Code\n```\n[c](#code)\n[d]: src/gone.ts\n',
  );
  writeText(
    folder,
    'src/code.ts',
    [`/** See ${GUIDE}#gone, ${GUIDE}#guide`, ` *  and ${'lost'}.md. */`, 'export {};'].join('\n'),
  );
  const { status, lines } = checkLinks(folder);
  expect(status).toBe(1);
  expect(lines.sort()).toEqual(
    [
      `${GUIDE}:3: gone.md: there is no such file`,
      `${GUIDE}:3: #gone: there is no such heading`,
      `${GUIDE}:8: #code: there is no such heading`,
      `${GUIDE}:9: src/gone.ts: there is no such file`,
      `src/code.ts:1: ${GUIDE}#gone: there is no such heading`,
      `src/code.ts:2: lost.md: there is no such file`,
      'links: 7 checked, 6 broken',
    ].sort(),
  );
});

test.each([
  ['# Who writes what, and when', 'who-writes-what-and-when'],
  ['## `stream_end` & friends', 'stream_end--friends'],
  ['### [Linked](x.md) – *Größe* 2.0', 'linked--größe-20'],
  ['# Trailing marks ##', 'trailing-marks'],
])('the anchor of "%s" is %s', (heading, anchor) => {
  expect([...anchorsIn(heading)]).toEqual([anchor]);
});
