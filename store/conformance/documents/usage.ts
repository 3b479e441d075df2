import { equal, untilDayLasts } from '../assertions.js';
import { newMember, newSession, runOf } from './owners.js';
import { server, userMessage } from '../fixtures.js';
import { drive, type SessionDriver } from '../session-driver.js';
import type { Case, Suite } from '../suite.js';
import { begin, newSubAgent } from '../tree.js';
import type { RunUsage } from '../../contract/runs.js';
import type { UsageSum } from '../../contract/usage.js';
import type { SessionOwner } from '../../contract/waiting.js';

const USED: RunUsage = { inputTokens: 10, outputTokens: 5, costMicroUsd: 700 };
const today = (): string => new Date().toISOString().slice(0, 10);
const range = () => ({ since: today(), until: today() });

/** Ends the session's run after one step with this usage. */
async function play(
  setup: Case,
  session: SessionDriver,
  usage: RunUsage = USED,
  model = 'fast',
): Promise<void> {
  const writer = session.writer(await runOf(setup, session), 1, 1);
  await session.claim(writer);
  await session.commit(writer, { usage, model });
}

async function sumsOf({ store }: Case, { owner, tenant }: SessionOwner): Promise<UsageSum[]> {
  const sums = await store.usage.read(tenant, range());
  return sums.filter((sum) => sum.owner === owner);
}

export function usageCases({ describe, it: each }: Suite): void {
  const it: Suite['it'] = (name, body) =>
    each(name, async (setup) => {
      await untilDayLasts();
      await body(setup);
    });

  describe('usage', () => {
    it('a run counts once, by owner, agent and model, however often it is folded', async (setup) => {
      const owner = newMember();
      const session = await newSession(setup, owner);
      await play(setup, session);
      equal(await sumsOf(setup, owner), []);
      const other = (await setup.another()).store;
      await Promise.all(
        Array.from({ length: 6 }, (_, n) =>
          (n % 2 === 0 ? setup.store : other).owners.fold(session.id),
        ),
      );
      const [sum, ...more] = await sumsOf(setup, owner);
      equal(more, []);
      equal(sum, {
        day: today(),
        owner: owner.owner,
        agent: sum?.agent ?? '',
        model: 'fast',
        runs: 1,
        ...USED,
      });
      equal(await setup.store.usage.spent(owner), {
        user: { day: 700, month: 700 },
        tenant: { day: 700, month: 700 },
      });
    });

    it('what conversations of one owner have used that are erased at once is all counted', async (setup) => {
      const owner = newMember();
      const other = (await setup.another()).store;
      const erased = Array.from({ length: 60 }, async (_, n) => {
        const session = await newSession(setup, owner);
        await play(setup, session);
        await (n % 2 === 0 ? setup.store : other).sessions.erase(session.id);
      });
      await Promise.all(erased);
      const [sum] = await sumsOf(setup, owner);
      equal(sum?.runs, 60);
      equal(await setup.store.owners.usage(owner), { runs: 0, queued: 0, sessions: 0, bytes: 0 });
    });

    it('what a missed fold leaves out is added by the next one, as is what a later run uses', async (setup) => {
      const owner = newMember();
      const session = await newSession(setup, owner);
      const next = async (id: string, usage?: RunUsage): Promise<void> => {
        await session.begin({ ...owner, messages: [userMessage(id)] });
        await play(setup, session, usage);
      };
      const fold = async (): Promise<unknown[]> => {
        await setup.store.owners.fold(session.id);
        const [sum] = await sumsOf(setup, owner);
        const { day } = (await setup.store.usage.spent(owner)).user;
        return [sum?.runs, sum?.inputTokens, sum?.costMicroUsd, day];
      };
      await play(setup, session);
      await next('u2', { inputTokens: 1, outputTokens: 1 });
      equal(await fold(), [2, 11, 700, 700]);
      await next('u3');
      equal(await fold(), [3, 21, 1400, 1400]);
    });

    it('users of a tenant are summed up together, and other tenants are apart', async (setup) => {
      const owner = newMember();
      const colleague = { ...owner, owner: `${owner.owner}/"2"` };
      for (const each of [owner, colleague]) {
        const session = await newSession(setup, each);
        await play(setup, session);
        await setup.store.owners.fold(session.id);
      }
      equal((await setup.store.usage.spent(owner)).tenant, { day: 1400, month: 1400 });
      equal((await setup.store.usage.read(owner.tenant, range())).length, 2);
      equal((await sumsOf(setup, colleague)).length, 1);
      equal(await setup.store.usage.read(newMember().tenant, range()), []);
    });

    it('a run that fails counts with what it has used', async (setup) => {
      const owner = newMember();
      const session = await newSession(setup, owner);
      const runId = await runOf(setup, session);
      await session.end(runId, 'failed', {
        error: { code: 'provider_error', message: 'no', retryable: true },
      });
      await setup.store.owners.fold(session.id);
      const [sum] = await sumsOf(setup, owner);
      equal([sum?.runs, sum?.inputTokens, sum?.model], [1, 0, '']);
    });

    it('erasing a conversation keeps what it has used', async (setup) => {
      const owner = newMember();
      const session = await newSession(setup, owner);
      await play(setup, session);
      await setup.store.sessions.erase(session.id);
      equal((await sumsOf(setup, owner))[0]?.runs, 1);
      await setup.store.owners.fold(session.id, owner);
      equal((await sumsOf(setup, owner))[0]?.runs, 1);
    });

    it('erasing a conversation keeps what its active run has used so far', async (setup) => {
      const owner = newMember();
      const session = await newSession(setup, owner);
      await play(setup, session);
      await session.begin({ ...owner, messages: [userMessage('u2')] });
      const runId = await runOf(setup, session);
      const writer = session.writer(runId, 1, 1);
      await session.claim(writer);
      const { call, child } = newSubAgent(session.id, 'd');
      await session.commit(writer, { usage: USED, model: 'fast', calls: [call] });
      await begin(setup, session, runId, 'd', child);
      const below = drive(setup, child.sessionId);
      const speaking = below.writer(child.runId, 1, 1);
      await below.claim(speaking);
      const usage = { inputTokens: 3, outputTokens: 0, costMicroUsd: 30 };
      await below.commit(speaking, { usage, model: 'fast', calls: [server('s')] });
      await setup.store.owners.fold(session.id);
      equal((await sumsOf(setup, owner))[0]?.runs, 1);
      await setup.store.sessions.erase(session.id);
      await setup.store.owners.fold(session.id, owner);
      const [sum] = await sumsOf(setup, owner);
      equal([sum?.runs, sum?.inputTokens, sum?.costMicroUsd], [2, 23, 1430]);
      equal((await setup.store.usage.spent(owner)).user.day, 1430);
    });

    it('a person who is forgotten has no name in the sums, which stay', async (setup) => {
      const owner = newMember();
      const session = await newSession(setup, owner);
      await play(setup, session);
      await setup.store.owners.fold(session.id);
      await setup.store.usage.forget(owner);
      await setup.store.usage.forget(owner);
      const sums = await setup.store.usage.read(owner.tenant, range());
      equal(
        sums.map((sum) => [sum.owner, sum.runs, sum.costMicroUsd]),
        [[undefined, 1, 700]],
      );
      const { user, tenant } = await setup.store.usage.spent(owner);
      equal([user.month, tenant.month], [0, 700]);
    });
  });
}
