import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createElement } from 'react';
import type { Shape } from '../../../web/src/form/shape.js';
import { SchemaForm } from '../../../web/src/form/schema-form.js';
import { toShape } from '../../../web/src/form/to-shape.js';
import { useEditedInput, type EditedInput } from '../../../web/src/form/use-edited-input.js';
import { openPage, type OpenPage } from '../../support/render-page.js';

// Forms as people see them: what is approved is what is shown.

let page: OpenPage;
let edited: EditedInput;
beforeEach(() => {
  page = openPage();
});
afterEach(() => {
  page.close();
});

function Card({ schema, input }: { schema: unknown; input: unknown }) {
  edited = useEditedInput(schema, input);
  const { shape, value, onChange } = edited;
  return createElement(SchemaForm, { shape, value, disabled: false, onChange });
}

const show = (schema: unknown, input: unknown): void => {
  page.show(createElement(Card, { schema, input }));
};

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
      ...{ kind: 'list', min: 0, max: 50 },
      item: {
        kind: 'group',
        fields: (['to', 'meta'] as const).map((name) => ({
          ...{ name, label: name, required: true },
          shape: name === 'to' ? { kind: 'text', input: 'text' } : { kind: 'json' },
        })),
      },
    };
    const draw = (value: unknown): void => {
      page.show(
        createElement(SchemaForm, { shape, value, disabled: false, onChange: () => undefined }),
      );
    };
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
});
