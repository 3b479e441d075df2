import { createElement } from 'react';
import { openPage, type OpenPage } from '../support/render-page.js';
import { ApprovalForm, type Decision } from '../../web/src/approval-form.js';
import { pressKey } from './press-key.js';

let page: OpenPage;
let isTouched: boolean | undefined;
beforeEach(() => {
  page = openPage();
  page.show(
    createElement(ApprovalForm, {
      question: { input: { amount: 5 }, mayDecide: true },
      disabled: false,
      onTouched: (now: boolean) => {
        isTouched = now;
      },
      onAnswer: (decision: Decision) => {
        throw new Error(`It was answered: ${JSON.stringify(decision)}`);
      },
    }),
  );
});
afterEach(() => page.close());

describe('the form of an approval', () => {
  it('is pristine again when the reason is emptied, and stays edited once a value was typed', () => {
    expect(isTouched).toBe(false);
    page.type('answer-reason', 'too much');
    expect(isTouched).toBe(true);
    page.type('answer-reason', '');
    expect(isTouched).toBe(false);
    page.type('input-amount', '6');
    page.type('input-amount', '5');
    expect(isTouched).toBe(true);
  });

  it('does not take Enter in the reason for an approval', () => {
    expect(pressKey('answer-reason', 'Enter')).toBe('handled');
    expect(pressKey('answer-reason', 'a')).toBe('left to the browser');
  });
});
