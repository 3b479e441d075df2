import { toStoredSessionId } from '../../ai-sdk/index.js';
import { ROUTES } from '../support/all-routes.js';
import type { AnswerRefusal } from '../../protocol/answers.js';
import { HTTP_STATUS, type ErrorCode } from '../../protocol/errors.js';
import { drive, newCall } from '../support/session-driver.js';
import { startOnMemory } from './api-server.js';
import { ASKED, ASKED_BY_OPERATORS } from './route-requests.js';

/** Why the store refuses what is done with a call, and as what a client learns of it. */
const CODES: Record<AnswerRefusal, ErrorCode> = {
  already_completed: 'already_completed',
  not_pending: 'not_pending',
  kind_mismatch: 'kind_mismatch',
  not_allowed: 'not_allowed',
  stale_run: 'stale_run',
  expired: 'expired',
  late: 'late_answer_after_timeout',
  no_deadline: 'no_deadline',
  too_far: 'deadline_too_far',
};
/** Of every call, whatever is done with it. */
const ALWAYS: readonly ErrorCode[] = ['already_completed', 'not_pending', 'stale_run'];

/** The routes that do something with a call, by what the executor does for them. */
const DONE_BY = {
  submitToolResult: ['answerCall', 'answerTenantCall', 'submitToolResult'],
  extendDeadline: ['extendDeadline', 'extendTenantDeadline'],
  leaseCall: ['leaseCall'],
};

const cases = Object.entries(DONE_BY).flatMap(([act, ids]) => ids.map((id) => [id, act] as const));

it.each(cases)('%s tells why a call was left alone', async (id, act) => {
  let kind: AnswerRefusal = 'not_pending';
  const server = await startOnMemory({ instead: { [act]: () => Promise.resolve({ kind }) } });
  const session = drive(server.stores, toStoredSessionId('mine', 'acme'));
  const begun = await session.newRun({ owner: 'ann', tenant: 'acme' });
  await session.ask(begun.runId, 1, [newCall('c1', 'approval')]);
  const route = ROUTES.find((each) => each.id === id);
  const { refusals = [], path = '' } = route ?? {};
  expect(refusals).toEqual(expect.arrayContaining([...ALWAYS]));
  const { body } = ASKED[id]?.('mine') ?? ASKED_BY_OPERATORS[id] ?? {};
  for (const [refusal, code] of Object.entries(CODES) as [AnswerRefusal, ErrorCode][]) {
    if (!refusals.includes(code)) continue;
    kind = refusal;
    const response = await server.post(
      path.replace(':sessionId', 'mine').replace(':toolCallId', 'c1'),
      body,
      { 'x-user': 'ann@acme' },
    );
    expect([response.status, await response.json()]).toMatchObject([HTTP_STATUS[code], { code }]);
  }
});
