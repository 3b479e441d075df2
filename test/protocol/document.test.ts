import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
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
  it('lists the base fields of chunks', () => {
    const [first] = StreamChunkSchema.options;
    const listed = tableOf('Chunks', 'Base field').flatMap(([name]) => namesIn(name));
    expect(listed.sort()).toEqual(fieldsOf(first.shape, ['delta']));
  });

  it('lists every chunk with its fields', () => {
    const base = tableOf('Chunks', 'Base field').flatMap(([name]) => namesIn(name));
    const fields = StreamChunkSchema.options.map((option) => {
      const { shape } = 'shape' in option ? option : option.options[0];
      return [shape.type.value, fieldsOf(shape, base)];
    });
    expect(documentedFields('Chunks', 'Type')).toEqual(Object.fromEntries(fields));
  });

  it('lists every control message with its fields', () => {
    const fields = ControlMessage.options.map(({ shape }) => [
      shape.type.value,
      fieldsOf(shape, ['type', 'streamId', 'timestamp']),
    ]);
    expect(documentedFields('Control messages', 'Type')).toEqual(Object.fromEntries(fields));
    for (const [type] of fields) expect(isControlMessage({ type: String(type) })).toBe(true);
  });

  it('lists every wire event with its fields', () => {
    const fields = StreamEvent.options.map(({ shape }) => [
      shape.type.value,
      fieldsOf(shape, ['type']),
    ]);
    expect(documentedFields('Wire events', 'Event')).toEqual(Object.fromEntries(fields));
  });

  it('lists the limits with their values', () => {
    const listed = tableOf('Limits', 'Limit').map(([name, value]) => [
      namesIn(name)[0],
      Number(value),
    ]);
    expect(Object.fromEntries(listed)).toEqual(LIMITS);
  });

  it('lists the error codes with their statuses', () => {
    const listed = tableOf('Errors', 'Code').map(([code, status]) => [
      namesIn(code)[0],
      Number(status),
    ]);
    expect(Object.fromEntries(listed)).toEqual(HTTP_STATUS);
  });

  it('lists the transitions with what they answer', () => {
    const scripts = new URL('stores/redis/lua/', root);
    const answers = readdirSync(scripts)
      .filter((file) => file.endsWith('.lua') && !NO_TRANSITIONS.has(file))
      .map((file) => {
        const lua = readFileSync(new URL(file, scripts), 'utf8');
        const codes = [...lua.matchAll(/return \{ '([A-Z_]+)'/g)].map(([, code = '']) => code);
        return [file.replace('.lua', ''), [...new Set(codes)].sort()];
      });
    const listed = tableOf('Transitions', 'Transition').map(([name, , decides]) => [
      namesIn(name)[0],
      [...new Set(namesIn(decides).filter((name) => /^[A-Z_]+$/.test(name)))].sort(),
    ]);
    expect(Object.fromEntries(listed)).toEqual(Object.fromEntries(answers));
  });
});

/** Reads, and a hint for the GET that follows a snapshot. */
const NO_TRANSITIONS = new Set(['read-page.lua', 'read-view.lua', 'note-snapshot.lua']);
