import type { CallDecision } from '../../protocol/replies.js';
import { formatWhen } from '../../web/src/format-when.js';
import { PageStore } from '../../web/src/page-store.js';
import { decisionOf, describeDecision } from '../../web/src/shown-decision.js';
import type { ToolPart } from '../../web/src/tool-state.js';

const NOON = new Date(2026, 10, 23, 12, 30).getTime();

const call = (approval: object): ToolPart =>
  ({
    type: 'dynamic-tool',
    toolName: 'charge',
    toolCallId: 'c1',
    state: 'output-available',
    input: { amount: 5 },
    output: 1,
    approval: { id: 'r::c1', ...approval },
  }) as ToolPart;

const by = (who: Partial<CallDecision>): CallDecision => {
  return { toolCallId: 'c1', approved: true, at: NOON, ...who };
};

function lineOf(approval: object, page: PageStore): string | undefined {
  const decision = decisionOf(call(approval), page.get());
  return decision && describeDecision(decision, NOON).replace(formatWhen(NOON, NOON), '12:30');
}

function pageWith(...decisions: CallDecision[]): PageStore {
  const page = new PageStore({ agent: 'lab' });
  page.noteDecisions(decisions);
  return page;
}

it('a decided call says who decided, when, what was changed, and why', () => {
  const ann = pageWith(by({ by: 'ann' }));
  expect(lineOf({ approved: true }, ann)).toBe('Approved by ann, 12:30.');
  expect(lineOf({ approved: false, reason: 'too much' }, ann)).toBe(
    'Denied by ann, 12:30: too much',
  );
  expect(lineOf({ approved: true, input: { amount: 3 } }, ann)).toBe(
    'Approved by ann, 12:30, with changes.',
  );
  expect(lineOf({ approved: false, input: { amount: 3 } }, ann)).toBe('Denied by ann, 12:30.');
  expect(lineOf({ approved: true }, pageWith(by({ automatic: true })))).toBe(
    'Approved without a person, 12:30.',
  );
  expect(lineOf({ approved: true }, pageWith(by({ by: 'anonymous' })))).toBe('Approved, 12:30.');
  expect(lineOf({ approved: true }, pageWith())).toBe('Approved.');
  expect(lineOf({}, ann)).toBeUndefined();
});

it('a decision of this page is shown as such until the record names who it was', () => {
  const page = pageWith();
  page.noteDecision('c1');
  page.set({ changed: { c1: { amount: 3 } } });
  expect(lineOf({ approved: true }, page)).toMatch(/^Approved by you, .*, with changes\.$/);
  page.noteDecisions([by({ by: 'ann' })]);
  expect(lineOf({ approved: true }, page)).toBe('Approved by ann, 12:30, with changes.');
});
