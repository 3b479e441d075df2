import { readFileSync } from 'node:fs';

const root = new URL('../../', import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8');
const document = read('docs/front-ends.md');

/** A link to a file, then its snippet, at most a sentence later. */
const QUOTED = /\]\(\.\.\/(examples\/[^)]+\.\w+)\)[^[\]]*?\n\n```\w+\n(.*?)^```$/gms;

it('snippets of the pages stand in the examples', () => {
  const quotes = [...document.matchAll(QUOTED)];
  expect(quotes.map(([, file]) => file)).toEqual([
    'examples/vue/src/conversation.js',
    'examples/vue/src/App.vue',
    'examples/svelte/src/App.svelte',
    'examples/assistant-ui/src/app.jsx',
    'examples/ai-elements/src/call.tsx',
  ]);
  for (const [, file = '', snippet] of quotes) expect(read(file)).toContain(snippet);
});

it('Vue and Svelte open a conversation alike', () => {
  expect(read('examples/svelte/src/conversation.js')).toBe(
    read('examples/vue/src/conversation.js'),
  );
});

it('the versions are those of the examples', () => {
  for (const name of ['vue', 'svelte', 'assistant-ui']) {
    const { dependencies } = JSON.parse(read(`examples/${name}/package.json`)) as {
      dependencies: Record<string, string>;
    };
    const { 'helix-temporal': _own, 'react-dom': _sameAsReact, ...others } = dependencies;
    const row = document
      .split('\n')
      .find((line) => line.startsWith('| ') && line.toLowerCase().startsWith(`| ${name} `));
    const named = [...(row ?? '').matchAll(/`([^`]+)` ([\d.]+)/g)].map(([, of, version]) => [
      of,
      version,
    ]);
    expect(Object.fromEntries(named)).toEqual(others);
  }
});
