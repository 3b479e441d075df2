import { readdirSync, readFileSync } from 'node:fs';
import { isControlMessage } from '../../protocol/control-guard.js';
import { ControlMessage } from '../../protocol/control-message.js';
import { StreamChunkSchema } from '../../protocol/chunk.js';
import { HTTP_STATUS } from '../../protocol/errors.js';
import { LIMITS } from '../../protocol/limits.js';
import { StreamEvent } from '../../protocol/wire-events.js';

/** PROTOCOL.md is normative: what it lists must be what the code has, both ways. */
const root = new URL('../../', import.meta.url);
const document = readFileSync(new URL('PROTOCOL.md', root), 'utf8');

/** Rows of the section's table whose first column has this heading. */
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

/** `field`, or `field?` if a message may lack it; the given fields left out. */
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

describe('PROTOCOL.md', () => {
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

  it('PROTOCOL.md lists the transitions with their results', () => {
    const folder = new URL('stores/transitions/', root);
    const answers = readdirSync(folder)
      .filter((file) => file.endsWith('.ts') && !NO_TRANSITIONS.has(file))
      .map((file) => {
        const code = readFileSync(new URL(file, folder), 'utf8');
        const parts = REPLYING_PARTS.filter((part) => code.includes(`'./lib/${part}.js'`));
        const texts = parts.map((part) => readFileSync(new URL(`lib/${part}.ts`, folder), 'utf8'));
        return [file.replace('.ts', ''), kindsIn([code, ...texts].join('\n'))] as const;
      });
    const kinds = new Set(answers.flatMap(([, each]) => each));
    const listed = tableOf('Transitions', 'Transition').map(([name, , decides]) => [
      namesIn(name)[0],
      [...new Set(namesIn(decides).filter((each) => kinds.has(each)))].sort(),
    ]);
    expect(Object.fromEntries(listed)).toEqual(Object.fromEntries(answers));
  });
});

/** Reads, hints and what is done to the index of those that are due. */
const NO_TRANSITIONS = new Set([
  'accepted-messages.ts',
  'library.ts',
  'note-due.ts',
  'note-refusals.ts',
  'note-snapshot.ts',
  'put-due.ts',
  'read-view.ts',
  'take-due.ts',
]);
/** Parts of transitions that say what these answer. */
const REPLYING_PARTS = ['late-answers', 'outcome', 'rewind-target'];

/** Pages of work, modes and outcomes. */
const OTHER_WORDS = new Set(['more', 'branch', 'calls', 'retry']);

/** Kinds of replies in the source of a transition. */
function kindsIn(code: string): string[] {
  const alone = [...code.matchAll(/only\(([^;]*?)\)[;,)]/g)].flatMap(([, words = '']) => [
    ...words.matchAll(/'([a-z_]+)'/g),
  ]);
  const named = [...code.matchAll(/"kind":"([a-z_]+)"/g)];
  const returned = [...code.matchAll(/return '([a-z_]+)'/g)];
  const found = [...alone, ...named, ...returned].map(([, kind = '']) => kind);
  return [...new Set(found.filter((kind) => !OTHER_WORDS.has(kind)))].sort();
}
