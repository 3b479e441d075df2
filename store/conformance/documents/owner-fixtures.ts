import type { AdmitInput, AdmitResult, OwnerCounts } from '../../contract/owners.js';
import type { SessionOwner } from '../../contract/waiting.js';
import { newSessionId } from '../fixtures.js';
import { drive, type SessionDriver } from '../session-driver.js';
import type { Case } from '../suite.js';

/** A user that only this case uses. */
export function newOwner(): SessionOwner {
  return { owner: `owner-${newSessionId()}` };
}

/** A user of a tenant that only this case uses. */
export function newMember(): SessionOwner & { tenant: string } {
  return { ...newOwner(), tenant: `tenant-${newSessionId()}` };
}

const MANY: OwnerCounts = { runs: 1_000, queued: 1_000, sessions: 1_000, bytes: 1_000_000_000 };

export function limits(
  user: Partial<OwnerCounts>,
  tenant: Partial<OwnerCounts> = {},
): Required<AdmitInput>['limits'] {
  return { user: { ...MANY, ...user }, tenant: { ...MANY, ...tenant } };
}

export function admit(
  { store }: Case,
  owner: SessionOwner,
  input: Partial<AdmitInput> = {},
): Promise<AdmitResult> {
  return store.owners.admit({
    ...owner,
    sessionId: newSessionId(),
    purpose: 'run',
    bytes: 0,
    ...input,
  });
}

/** A session with an active run, charged to its owner. */
export async function newSession(
  setup: Case,
  owner: SessionOwner,
  title = '',
): Promise<SessionDriver> {
  const session = drive(setup);
  await session.newRun(owner);
  await setup.store.owners.fold(session.id, owner, title);
  return session;
}

export async function runOf({ store }: Case, { id }: SessionDriver): Promise<string> {
  return (await store.sessions.read(id))?.runId ?? '';
}

export async function counts(
  { store }: Case,
  owner: SessionOwner,
): Promise<Omit<OwnerCounts, 'bytes'>> {
  const { runs, queued, sessions } = await store.owners.usage(owner);
  return { runs, queued, sessions };
}

export async function listed({ store }: Case, owner: SessionOwner): Promise<string[]> {
  const { conversations } = await store.owners.page(owner, { limit: 50 });
  return conversations.map(({ sessionId }) => sessionId);
}
