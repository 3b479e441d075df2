import type { OperatorWaiting } from '../../../protocol/operator.js';
import { json, outcome, type Person } from '../../support/people.js';
import { until } from '../../support/until.js';
import type { Kit } from '../browser.js';
import { madeWith, scenario, type Scenario } from '../scenario.js';
import type { Stage } from '../stage.js';
import type { Tab } from '../tab.js';

type SignIn = (user: string, tenant: string | undefined, ...roles: string[]) => Promise<Person>;

interface Decision {
  kit: Kit;
  approved: boolean;
  signIn: SignIn;
}

const REFUND = { text: 'I want a refund for order 1042 please' };

const refundOf = (tab: Tab) => tab.calls().find(({ toolName }) => toolName === 'refund');

/** Expects a resting page that shows the call, asks nothing, and has sent this many posts. */
async function expectAtRest({ tab, posts }: { tab: Tab; posts: number }): Promise<void> {
  await tab.untilShown('the refund', () => refundOf(tab)?.state === 'input-available');
  await tab.untilRests();
  expect(tab.view).toMatchObject({ status: 'ready', errors: [] });
  expect(refundOf(tab)).not.toHaveProperty('approval');
  expect(tab.posts()).toBe(posts);
}

async function decideElsewhere(stage: Stage, { kit, approved, signIn }: Decision): Promise<void> {
  const tab = await stage.openNew();
  await tab.act('sendMessage', REFUND);
  await expectAtRest({ tab, posts: 1 });
  // A page that is loaded now shows the same and sends nothing.
  const second = await stage.load();
  await expectAtRest({ tab: second, posts: 0 });

  const colleague = await signIn('lea', undefined, 'approver');
  const toolCallId = refundOf(tab)?.toolCallId ?? '';
  const path = `operator/waiting/${stage.sessionId}/${toolCallId}`;
  // The call's id alone decides nothing: the call may have changed meanwhile.
  const waiting = `operator/waiting?session=${stage.sessionId}`;
  const { sessions } = await json<OperatorWaiting>(colleague.get(waiting));
  const { approvalId, inputHash } = sessions[0]?.pending[0] ?? {};
  expect(await outcome(colleague.post(path, { approved }))).toEqual([409, 'not_pending']);
  const shown = { approved, approvalId, inputHash };
  expect(await outcome(colleague.post(path, shown))).toEqual([202]);
  await until('the run has ended', async () => (await stage.stored()).status === 'ended');
  const later = await stage.load();
  const state = approved ? 'output-available' : 'output-denied';
  await later.untilShown('the outcome', () => refundOf(later)?.state === state);
  await stage.expectRight(later, { posts: 0 });
  // Pages that were open have sent nothing since.
  expect(tab.posts()).toBe(1);
  expect(second.posts()).toBe(0);
  // The person sends another message with the old copy of the conversation.
  await tab.act('sendMessage', { text: 'thank you' });
  await tab.untilRests();
  expect(tab.view).toMatchObject({ status: 'ready', errors: [] });
  if (kit !== 'agent-server') expect(tab.posts()).toBe(2);
}

const KITS: readonly Kit[] = ['stock', 'no-cookies', 'resumable', 'agent-server'];

/** Returns scenarios of a customer, who may not decide the pending call of the conversation. */
export function fourEyes(signIn: SignIn): Scenario[] {
  return KITS.flatMap((kit) =>
    [true, false].map((approved) => ({
      ...madeWith(
        kit,
        scenario(`a colleague ${approved ? 'approves' : 'denies'} a refund`, (stage) =>
          decideElsewhere(stage, { kit, approved, signIn }),
        ),
      ),
      isOfCustomer: true as const,
    })),
  );
}
