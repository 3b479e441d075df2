import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { FieldList } from '../../web/src/field-list.js';

const show = (value: unknown): string =>
  renderToStaticMarkup(createElement(FieldList, { value })).replaceAll(/<[^>]+>/g, '|');

it('fields further inside keep their names, so that a reader knows which is which', () => {
  const transfer = { from: 'CH1', to: 'CH2', amounts: [{ feeUsd: 1 }, { feeUsd: 2 }] };
  const html = show({ transfer, note: 'x', none: {}, empty: [] });
  expect(html).toContain('From: CH1, To: CH2, Amounts: (Fee usd: 1; Fee usd: 2)');
  expect(html).toContain('|None|');
  expect(html).toMatch(/None\|+–/);
});

it('what is further inside is in brackets, so that it does not run into its neighbours', () => {
  const payment = { from: { iban: 'A', limit: 5 }, none: [], amount: 3 };
  expect(show({ payment })).toContain('From: (Iban: A, Limit: 5), None: –, Amount: 3');
  expect(show({ rows: [[1, 2], [3]] })).toContain('(1; 2); (3)');
});
