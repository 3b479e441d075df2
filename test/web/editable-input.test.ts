import { describe, expect, it } from '@jest/globals';
import { editableFields, editedInput } from '../../web/src/editable-input.js';

const input = { amount: 20, reason: 'late', gift: false, lines: [1] };

describe('editedInput', () => {
  it('is nothing while nothing is changed', () => {
    expect(editedInput(input, {})).toBeUndefined();
    expect(editedInput(input, { amount: '20', reason: 'late' })).toBeUndefined();
    expect(editedInput('no object', { amount: '1' })).toBeUndefined();
  });

  it('keeps the kind of what is changed, and all that is not', () => {
    expect(editedInput(input, { amount: '12.5', gift: 'true' })).toEqual({
      ...input,
      amount: 12.5,
      gift: true,
    });
  });

  it('leaves it to the server to refuse what is no number', () => {
    expect(editedInput(input, { amount: '' })).toMatchObject({ amount: '' });
  });
});

it('shows what a form can show', () => {
  expect(editableFields(input).map(({ name, kind }) => [name, kind])).toEqual([
    ['amount', 'number'],
    ['reason', 'text'],
    ['gift', 'switch'],
  ]);
});
