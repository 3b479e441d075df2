import { createElement, type SyntheticEvent } from 'react';
import { SchemaForm, useEditedInput, type EditedInput } from '../../../web/src/form/schema-form.js';
import type { Shape } from '../../../web/src/form/shape.js';
import { toShape } from '../../../web/src/form/to-shape.js';
import { openPage, type OpenPage } from '../../support/render-page.js';
import { pressKey } from '../press-key.js';

// A person approves exactly the values that the form shows.

let page: OpenPage;
let edited: EditedInput;
beforeEach(() => {
  page = openPage();
});
afterEach(() => page.close());

function Card({ schema, input }: { schema: unknown; input: unknown }) {
  edited = useEditedInput(schema, input);
  const { shape, value, onChange } = edited;
  return createElement(SchemaForm, { shape, value, disabled: false, onChange });
}

const show = (schema: unknown, input: unknown): void =>
  page.show(createElement(Card, { schema, input }));

describe('SchemaForm', () => {
  const item = { type: 'object', properties: { to: { type: 'string' }, meta: {} } };
  const payments = { type: 'array', items: item };
  const schema = { type: 'object', properties: { payments } };

  it('an item that takes the place of a removed one is shown with its own JSON', () => {
    const [a, b] = [
      { to: 'a', meta: { x: 1 } },
      { to: 'b', meta: { y: 2 } },
    ];
    const shape: Shape = {
      kind: 'list',
      min: 0,
      max: 50,
      item: {
        kind: 'group',
        fields: (['to', 'meta'] as const).map((name) => ({
          name,
          label: name,
          required: true,
          shape: name === 'to' ? { kind: 'text', input: 'text' } : { kind: 'json' },
        })),
      },
    };
    const draw = (value: unknown): void =>
      page.show(
        createElement(SchemaForm, { shape, value, disabled: false, onChange: () => undefined }),
      );
    draw([a, b]);
    page.type('input-.0.meta', '{"x": 1 }');
    draw([b]);
    expect(JSON.parse(page.valueOf('input-.0.meta'))).toEqual(b.meta);
    expect(toShape(schema, { payments: [a, b] })).toMatchObject({ kind: 'group' });
  });

  it('JSON that is removed or broken is not sent in the form of what was asked', () => {
    show({}, {});
    page.type('input-', '  ');
    expect(page.faultOf('input-')).toContain('blank');
    page.type('input-', '{"to": ');
    expect(page.faultOf('input-')).toContain('not JSON');
    page.type('input-', '{"to": 1}');
    expect([page.faultOf('input-'), edited.edited]).toEqual(['', { to: 1 }]);
  });

  it('a form that cannot be drawn shows the JSON, and the rest of the page stays', () => {
    jest.spyOn(console, 'error').mockReturnValue();
    const broken = { shape: { kind: 'group' } as Shape, value: { to: 'pay \u202e5' } };
    const form = createElement(SchemaForm, {
      ...broken,
      disabled: true,
      onChange: () => undefined,
    });
    page.show(
      createElement('main', {}, form, createElement('b', { 'data-testid': 'rest' }, 'more')),
    );
    const shown = ['plain-input', 'rest'].map(page.textOf);
    expect(shown).toEqual(['{\n  "to": "pay \\u202e5"\n}', 'more']);
  });

  it('a field may be called as what every object has', () => {
    const names = ['constructor', 'toString', '__proto__', 'valueOf'];
    const properties = Object.fromEntries(names.map((name) => [name, {}]));
    show({ type: 'object', properties }, {});
    for (const name of names) expect(page.valueOf(`input-${name}`)).toBe('');
    expect(edited.edited).toBeUndefined();
  });

  it('characters that cannot be seen are shown as escapes', () => {
    show(undefined, { to: 'pay \u202e5' });
    expect(page.valueOf('input-to')).toBe('"pay \\u202e5"');
  });

  const IBAN = 'CH93 0076 2011 6238 5295 7';
  const textOf = (field: object) => ({
    type: 'object',
    properties: { at: { type: 'string', ...field } },
    required: ['at'],
  });

  it('a text of one line that is shown on several gets no line breaks, and Enter sends it', () => {
    let sent = 0;
    const onSubmit = (event: SyntheticEvent): void => {
      event.preventDefault();
      sent += 1;
    };
    const card = createElement(Card, { schema: textOf({}), input: { at: IBAN } });
    page.show(createElement('form', { onSubmit }, card));
    expect(pressKey('input-at', 'Enter', { isComposing: true })).toBe('left to the browser');
    expect(pressKey('input-at', 'a')).toBe('left to the browser');
    expect(sent).toBe(0);
    expect(pressKey('input-at', 'Enter')).toBe('handled');
    expect(sent).toBe(1);
    page.type('input-at', `${IBAN}\r\n8\n`);
    expect(edited.edited).toEqual({ at: `${IBAN}8` });
  });

  it('a text that may have line breaks keeps them, and Enter makes one', () => {
    show(textOf({ maxLength: 500 }), { at: 'Dear Sir' });
    expect(pressKey('input-at', 'Enter')).toBe('left to the browser');
    page.type('input-at', 'Dear Sir\n');
    expect(edited.edited).toEqual({ at: 'Dear Sir\n' });
  });

  it('an address or a pattern is checked also where the text needs several lines', () => {
    const faultOf = (field: object, given: string, typed: string): string => {
      page.show(createElement(Card, { key: typed, schema: textOf(field), input: { at: given } }));
      expect(page.faultOf('input-at')).toBe('');
      page.type('input-at', typed);
      return page.faultOf('input-at');
    };
    expect(faultOf({ pattern: '^CH' }, IBAN, `X${IBAN}`)).toContain('does not match');
    const [mail, url] = ['somewhere-far@bank.test', 'https://bank.test/far-away'];
    expect(faultOf({ format: 'email' }, mail, 'somewhere-far')).toContain('e-mail');
    expect(faultOf({ format: 'uri' }, url, 'far-away')).toContain('URL');
    page.type('input-at', ` ${url}\n`);
    expect([page.faultOf('input-at'), edited.value]).toEqual(['', { at: url }]);
  });
});
