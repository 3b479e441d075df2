import { z } from 'zod';
import { startValue, type Shape } from '../../../web/src/form/shape.js';
import { toShape } from '../../../web/src/form/to-shape.js';

const Order = z.object({
  amount: z.number().min(1).max(50).meta({ format: 'currency:USD' }),
  weight: z.number().optional().meta({ format: 'unit:kg' }),
  pieces: z.int().default(3),
  colour: z.enum(['red', 'blue']),
  gift: z.boolean(),
  day: z.iso.date(),
  note: z.string().max(20).nullable().describe('What the parcel says'),
  to: z.object({ city: z.string().meta({ title: 'Town' }) }),
  lines: z.array(z.object({ sku: z.string() })).min(1),
});
const schema = z.toJSONSchema(Order, { io: 'input' });

function fieldsOf(shape: Shape): Record<string, Shape & { required: boolean; label: string }> {
  if (shape.kind !== 'group') throw new Error(shape.kind);
  return Object.fromEntries(
    shape.fields.map(({ name, required, label, shape: inner }) => [
      name,
      { ...inner, required, label },
    ]),
  );
}

describe('toShape', () => {
  it('a form has a control for each field, by its schema', () => {
    const { amount, weight, pieces, colour, gift, day, note, to, lines } = fieldsOf(
      toShape(schema, undefined),
    );
    // Some languages call it `US$`.
    const unit = expect.stringContaining('$') as unknown;
    expect(amount).toMatchObject({ kind: 'number', min: 1, max: 50, unit, required: true });
    expect(weight).toMatchObject({ kind: 'number', unit: 'kg', required: false });
    expect(pieces).toMatchObject({ kind: 'number', step: 1, start: 3, max: undefined });
    expect(colour).toMatchObject({
      kind: 'choice',
      options: [{ value: 'red' }, { value: 'blue' }],
    });
    expect(gift?.kind).toBe('switch');
    expect(day).toMatchObject({ kind: 'text', input: 'date' });
    expect(note).toMatchObject({
      kind: 'text',
      maxLength: 20,
      description: 'What the parcel says',
    });
    expect(to).toMatchObject({ kind: 'group', fields: [{ label: 'Town' }] });
    expect(lines).toMatchObject({ kind: 'list', min: 1, item: { kind: 'group' } });
    expect(startValue(toShape(schema, undefined))).toEqual({
      pieces: 3,
      gift: false,
      note: '',
      to: { city: '' },
      lines: [{ sku: '' }],
    });
  });

  it('people see all that they agree to, whatever the schema says of it', () => {
    const shape = fieldsOf(toShape(schema, { amount: 'much', colour: 'green', extra: [1, 2] }));
    expect(shape.amount).toMatchObject({ kind: 'text' });
    expect(shape.colour).toMatchObject({ kind: 'text' });
    expect(shape.extra).toMatchObject({ kind: 'list', item: { kind: 'number' } });
    const odd = fieldsOf(
      toShape(schema, { lines: [{ sku: 'a', hidden: 1 }], to: { x: { y: 1 } } }),
    );
    expect(odd.lines).toMatchObject({ kind: 'json' });
    expect(odd.to).toMatchObject({ fields: [{ name: 'city' }, { name: 'x' }] });
  });

  it('a control shows a text whole, or the text is shown as what it is', () => {
    const inputOf = (format: string, value: string): string => {
      const properties = { at: { type: 'string', format } };
      const { at } = fieldsOf(toShape({ type: 'object', properties }, { at: value }));
      return at?.kind === 'text' ? at.input : String(at?.kind);
    };
    expect(inputOf('date-time', '2026-01-01T10:00:00Z')).toBe('date-time');
    expect(inputOf('date-time', '2026-01-01T10:00:00+02:00')).toBe('date-time');
    expect(inputOf('date', '2024-02-29')).toBe('date');
    expect(inputOf('time', '09:30')).toBe('time');
    for (const at of [
      '2026-01-01 (wire 90000 to mallory instead)',
      '2026-02-30T00:00:00Z',
      '2026-01-01T10:00:30Z',
      '2026-01-01T10:00:00',
      '0000-01-01T10:00:00Z',
    ]) {
      expect([at, inputOf('date-time', at)]).toEqual([at, 'long']);
    }
    expect(['9999-99-99', '2026-02-30'].map((at) => inputOf('date', at))).toEqual(['text', 'text']);
    expect(['99:99', '09:30:15'].map((at) => inputOf('time', at))).toEqual(['text', 'text']);
    expect(inputOf('email', 'a@b.test\nc@d.test')).toBe('long');
    expect(inputOf('none', 'pay 5\rto mallory')).toBe('long');
    expect(inputOf('none', 'pay \u202e5')).toBe('json');
    expect(toShape(undefined, ['a', 'b\nc'])).toMatchObject({ item: { input: 'long' } });
  });

  it('a text that one line of a phone would cut is shown in as many lines as it needs', () => {
    const inputOf = (format: string, value: string): string => {
      const properties = { at: { type: 'string', format } };
      const { at } = fieldsOf(toShape({ type: 'object', properties }, { at: value }));
      return at?.kind === 'text' ? at.input : String(at?.kind);
    };
    const path = 'https://bank.test/pay?to=another-account&amount=90000';
    expect(inputOf('none', 'Zürich')).toBe('text');
    expect(inputOf('none', 'CH93 0076 2011 6238 5295 7')).toBe('long');
    expect([inputOf('email', 'a@b.test'), inputOf('uri', 'https://b.test')]).toEqual([
      'email',
      'url',
    ]);
    expect([inputOf('email', `${'a'.repeat(40)}@b.test`), inputOf('uri', path)]).toEqual([
      'long',
      'long',
    ]);
    expect(toShape(undefined, ['a', path])).toMatchObject({ item: { input: 'long' } });
  });

  it('a long text of one line stays one, unless its schema asks for a long text', () => {
    const shapeOf = (field: object, value: string): unknown => {
      const properties = { at: { type: 'string', ...field } };
      return fieldsOf(toShape({ type: 'object', properties }, { at: value })).at;
    };
    const long = 'https://bank.test/to?another-account';
    const line = { input: 'long', oneLine: 'text' };
    expect(shapeOf({ pattern: '^h' }, long)).toMatchObject({ ...line, pattern: '^h' });
    expect(shapeOf({ format: 'date' }, long)).toMatchObject(line);
    expect(shapeOf({ format: 'uri', maxLength: 2000 }, long)).toMatchObject({ oneLine: 'url' });
    expect(shapeOf({ format: 'email' }, 'somewhere-far@bank.test')).toMatchObject({
      oneLine: 'email',
    });
    expect(toShape(undefined, { to: long })).toMatchObject({ fields: [{ shape: line }] });
    for (const field of [{ format: 'textarea' }, { maxLength: 500 }]) {
      expect(shapeOf(field, long)).toMatchObject({ input: 'long', oneLine: undefined });
    }
    expect(shapeOf({}, `${long}\n`)).toMatchObject({ input: 'long', oneLine: undefined });
    const mixed = { item: { input: 'long', oneLine: undefined } };
    expect(toShape(undefined, [long, 'b\nc'])).toMatchObject(mixed);
  });

  it('the items of a list are shown as whole as its longest one needs', () => {
    const long = 'CH93 0076 2011 6238 5295 7';
    const text = { type: 'string' };
    const list = (items: object, ...value: unknown[]): unknown =>
      toShape({ type: 'array', items }, value);
    const line = { input: 'long', oneLine: 'text' };
    expect(list(text, 'a', long, 'b')).toMatchObject({ kind: 'list', item: line });
    expect(list(text, long, 'a\nb')).toMatchObject({ item: { input: 'long', oneLine: undefined } });
    expect(list(text, 'a')).toMatchObject({ item: { input: 'text' } });
    const payment = { type: 'object', properties: { to: text, day: { ...text, format: 'date' } } };
    expect(list(payment, { to: 'a' }, { to: long })).toMatchObject({
      item: { fields: [{ shape: line }, { shape: { input: 'date' } }] },
    });
    expect(list(payment, { to: 'a', hidden: 'b' })).toMatchObject({ kind: 'json' });
  });

  it('what a form begins with is what it shows', () => {
    const properties = {
      gift: { type: 'boolean', default: 'yes' },
      note: { type: 'string', default: { x: 1 } },
      colour: { enum: ['a', 'b'], default: 'z' },
      to: { type: 'object', properties: { city: { type: 'string' } }, default: { hidden: 1 } },
      many: { type: 'array', items: { type: 'string' }, minItems: 5e9 },
    };
    const required = Object.keys(properties);
    expect(startValue(toShape({ type: 'object', properties, required }, undefined))).toEqual({
      gift: false,
      note: '',
      to: {},
    });
    const row = { type: 'array', minItems: 50, items: { type: 'string' } };
    const table = { ...row, items: { ...row, items: { ...row, items: row } } };
    expect(startValue(toShape(table, undefined))).toEqual(Array.from({ length: 50 }, () => []));
    const { same } = fieldsOf(
      toShape({ type: 'object', properties: { same: { enum: [1, '1'] } } }, {}),
    );
    expect(same).toMatchObject({ options: [{ label: '1 (1)' }, { label: '1 ("1")' }] });
  });

  it('a valid number can be sent, and no pattern of a stranger keeps the page busy', () => {
    const shapeOf = (field: object): unknown =>
      fieldsOf(toShape({ type: 'object', properties: { field } }, {})).field;
    const step = (min: object): unknown => shapeOf({ type: 'integer', multipleOf: 5, ...min });
    expect(step({ minimum: 10 })).toMatchObject({ step: 5, min: 10 });
    expect(step({ minimum: 1 })).toMatchObject({ step: 'any', min: 1 });
    const pattern = (text: string): unknown =>
      (shapeOf({ type: 'string', pattern: text }) as { pattern?: string }).pattern;
    for (const quick of ['^[A-Z]{2}-\\d+$', '^(red|blue)$', '^\\d+\\.\\d+\\.\\d+$']) {
      expect(pattern(quick)).toBe(quick);
    }
    const slow = ['^(a|a)*$', '(a+)+$', 'a*a*a*b', `^${'(a|a)'.repeat(9)}$`, '^(a?)\\1$'];
    for (const text of slow) expect([text, pattern(text)]).toEqual([text, undefined]);
  });

  it('a value without a schema is shown by what it is, and as JSON where there is no control', () => {
    const input = { a: 1, b: 'x', c: true, d: { e: 'f' }, g: [{}], h: null };
    const kinds = Object.values(fieldsOf(toShape(undefined, input))).map(({ kind }) => kind);
    expect(kinds).toEqual(['number', 'text', 'switch', 'group', 'json', 'json']);
    expect(toShape(undefined, [1, 'x']).kind).toBe('json');
  });

  it("a stranger's schema makes no endless form, and its references lead nowhere else", () => {
    const node = { type: 'object', properties: { next: { $ref: '#/$defs/node' } } };
    expect(() => toShape({ $ref: '#/$defs/node', $defs: { node } }, {})).not.toThrow();
    const fields = Object.fromEntries(
      Array.from({ length: 6 }, (_, at) => [`f${String(at)}`, { $ref: '#/$defs/many' }]),
    );
    const many = { type: 'object', properties: fields };
    const shape = toShape({ $ref: '#/$defs/many', $defs: { many } }, {});
    expect(JSON.stringify(shape).length).toBeLessThan(100_000);
    const itself = { $ref: '#/$defs/it', $defs: { it: { anyOf: [{ $ref: '#/$defs/it' }] } } };
    expect(toShape(itself, undefined).kind).toBe('json');
    expect(toShape({ $ref: 'https://elsewhere.test/x' }, undefined).kind).toBe('json');
    const properties = Object.fromEntries(
      Array.from({ length: 100 }, (_, at) => [`f${String(at)}`, {}]),
    );
    expect(toShape({ type: 'object', properties }, {}).kind).toBe('json');
    const wide = { type: 'object', properties: { constructor: { type: 'string' } } };
    expect(fieldsOf(toShape(wide, {})).constructor).toMatchObject({ kind: 'text' });
  });
});
