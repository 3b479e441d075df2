import { readFileSync } from 'node:fs';

const textOf = (path: string): string =>
  readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

const declared = [...textOf('config/env.ts').matchAll(/^ {2}([A-Z][A-Z_]+):/gm)].map(
  ([, name]) => name,
);
const guide = textOf('docs/deploying.md');

it('docs/deploying.md explains every setting of the processes', () => {
  expect(declared.length).toBeGreaterThan(40);
  expect(
    declared.filter(
      (name) => !guide.includes(`\`${name ?? ''}\``) && !guide.includes(`${name ?? ''}=1`),
    ),
  ).toEqual([]);
});

it('docs/deploying.md lists no setting that the processes do not read', () => {
  const firstColumns = [...guide.matchAll(/^\| (`[^|]+) \|/gm)].map(([, cell]) => cell ?? '');
  const listed = firstColumns.flatMap((cell) =>
    [...cell.matchAll(/`([A-Z][A-Z_]+)`/g)].map(([, name]) => name),
  );
  expect(listed.length).toBeGreaterThan(30);
  expect(listed.filter((name) => !declared.includes(name))).toEqual([]);
});
