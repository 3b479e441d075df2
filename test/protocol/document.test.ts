import { readdirSync, readFileSync } from 'node:fs';
import { isControlMessage } from '../../protocol/chunk-guards.js';
import { ControlMessage, StreamChunkSchema } from '../../protocol/chunk.js';
import { HTTP_STATUS } from '../../protocol/errors.js';
import { LIMITS } from '../../protocol/limits.js';
import { StreamEvent } from '../../protocol/agent-server.js';

/** PROTOCOL.md is normative: its lists must equal the code's, both ways. */
const root = new URL('../../', import.meta.url);
const document = readFileSync(new URL('PROTOCOL.md', root), 'utf8');

/** Returns the rows of the section's table whose first column has this heading. */
function tableOf(section: string, heading: string): string[][] {
  const [, text = ''] = document.split(`\n## ${section}\n`);
  const lines = (text.split('\n## ')[0] ?? '').split('\n');
  const start = lines.findIndex((line) => line.startsWith(`| ${heading} |`));
  if (start < 0) throw new Error(`no table "${heading}" in "${section}"`);
  const end = lines.findIndex((line, at) => at > start && !line.startsWith('|'));
  return lines.slice(start + 2, end).map((line) =>
    line
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim()),
  );
}

const namesIn = (cell = ''): string[] =>
  [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);

/** Returns `field`, or `field?` if a message may lack it, except the given fields. */
function fieldsOf(
  shape: Record<string, { safeParse: (value: unknown) => { success: boolean } }>,
  without: readonly string[],
): string[] {
  return Object.entries(shape)
    .filter(([name]) => !without.includes(name))
    .map(([name, schema]) => (schema.safeParse(undefined).success ? `${name}?` : name))
    .sort();
}

function documentedFields(section: string, heading: string): Record<string, string[]> {
  return Object.fromEntries(
    tableOf(section, heading).map(([type, fields]) => [
      namesIn(type)[0] ?? '',
      namesIn(fields).sort(),
    ]),
  );
}

it('PROTOCOL.md lists the base fields of chunks', () => {
  const [first] = StreamChunkSchema.options;
  const listed = tableOf('Chunks', 'Base field').flatMap(([name]) => namesIn(name));
  const own = ['delta', 'block', 'isComplete', 'providerMetadata'];
  expect(listed.sort()).toEqual(fieldsOf(first.shape, own));
});

it('PROTOCOL.md lists every chunk with its fields', () => {
  const base = tableOf('Chunks', 'Base field').flatMap(([name]) => namesIn(name));
  const fields = StreamChunkSchema.options.map((option) => {
    const { shape } = 'shape' in option ? option : option.options[0];
    return [shape.type.value, fieldsOf(shape, base)];
  });
  expect(documentedFields('Chunks', 'Type')).toEqual(Object.fromEntries(fields));
});

it('PROTOCOL.md lists every control message with its fields', () => {
  const fields = ControlMessage.options.map(({ shape }) => [
    shape.type.value,
    fieldsOf(shape, ['type', 'streamId', 'timestamp']),
  ]);
  expect(documentedFields('Control messages', 'Type')).toEqual(Object.fromEntries(fields));
  for (const [type] of fields) expect(isControlMessage({ type: String(type) })).toBe(true);
});

it('PROTOCOL.md lists every wire event with its fields', () => {
  const fields = StreamEvent.options.map(({ shape }) => [
    shape.type.value,
    fieldsOf(shape, ['type']),
  ]);
  expect(documentedFields('Wire events', 'Event')).toEqual(Object.fromEntries(fields));
});

it('PROTOCOL.md lists the limits with their values', () => {
  const listed = tableOf('Limits', 'Limit').map(([name, value]) => [
    namesIn(name)[0],
    JSON.parse(value?.replaceAll('`', '') ?? '') as unknown,
  ]);
  expect(Object.fromEntries(listed)).toEqual(LIMITS);
});

it('PROTOCOL.md lists the error codes with their statuses', () => {
  const listed = tableOf('Errors', 'HTTP').flatMap(([status, codes]) =>
    namesIn(codes).map((code) => [code, Number(status)]),
  );
  expect(Object.fromEntries(listed)).toEqual(HTTP_STATUS);
});

it('PROTOCOL.md lists the changes with their results', () => {
  const folder = new URL('session/', root);
  const code = readdirSync(folder)
    .map((file) => readFileSync(new URL(file, folder), 'utf8'))
    .join('\n');
  const rows = tableOf('Changes', 'Change');
  // `append` is a script of the store that replies by numbers, not a function.
  const changes = rows
    .map(([name]) => camelCased(namesIn(name)[0] ?? ''))
    .filter((name) => name !== 'append');
  expect(changes.filter((name) => !code.includes(`\nexport function ${name}(`))).toEqual([]);
  const kindsOf = (text: string): string[] =>
    [...text.matchAll(/\bkind: '([a-z_]+)'/g)].map(([, kind = '']) => kind);
  const others = ['events.ts', 'input.ts'].map((file) =>
    readFileSync(new URL(file, folder), 'utf8'),
  );
  const isOther = new Set([...OTHER_KINDS, ...kindsOf(others.join(''))]);
  const replies = new Set(kindsOf(code).filter((kind) => !isOther.has(kind)));
  const listed = rows
    .flatMap(([, , decides]) => namesIn(decides))
    .filter((kind) => replies.has(kind));
  expect([...new Set(listed)].sort()).toEqual([...replies].sort());
});

/** Outcomes, marks, waits and rewind targets; events and inputs have files of their own. */
const OTHER_KINDS = new Set([
  'c',
  'calls',
  'suspended_awaiting_children',
  'suspended_client_tool',
  'suspended_step_partial',
]);

const camelCased = (name: string): string =>
  name.replace(/-[a-z]/g, (letter) => letter.slice(1).toUpperCase());
