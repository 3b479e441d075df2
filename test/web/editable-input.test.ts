import { describe, expect, it } from '@jest/globals';
import { editableFields, editedInput } from '../../web/src/editable-input.js';

const input = { amount: 20, reason: 'late', gift: false, lines: [1] };

describe('editedInput', () => {
  it('editedInput returns nothing while nothing is changed', () => {
    expect(editedInput(input, {})).toBeUndefined();
    expect(editedInput(input, { amount: '20', reason: 'late' })).toBeUndefined();
    expect(editedInput('no object', { amount: '1' })).toBeUndefined();
  });

  it('editedInput keeps the type of changed fields, and all other fields', () => {
    expect(editedInput(input, { amount: '12.5', gift: 'true' })).toEqual({
      ...input,
      amount: 12.5,
      gift: true,
    });
  });

  it('editedInput leaves it to the server to refuse a text that is no number', () => {
    expect(editedInput(input, { amount: '' })).toMatchObject({ amount: '' });
  });
});

it('a form shows the fields that it can edit', () => {
  expect(editableFields(input).map(({ name, kind }) => [name, kind])).toEqual([
    ['amount', 'number'],
    ['reason', 'text'],
    ['gift', 'switch'],
  ]);
});
