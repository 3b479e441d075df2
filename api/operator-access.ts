import {
  convertToUIMessages,
  explainWithheld,
  findSession,
  mayDecide,
  notFound,
  requireAllowed,
  toPendingQuestions,
  type Action,
  type Caller,
} from '../ai-sdk/index.js';
import { holdsRole, needsRole, type Role, isSamePerson, toPerson } from '../protocol/actor.js';
import { HelixError } from '../protocol/errors.js';
import type { WaitingSession } from '../protocol/replies.js';
import { isStreamId, rootOf, sessionOfRun } from '../protocol/ids.js';
import type { OperatorQuestion } from '../protocol/operator.js';
import type { DualRequest } from '../store/contract/audit.js';
import type { SessionCalls, SessionRecord } from '../store/contract/sessions.js';
import { toAct } from '../runs/record/acts.js';
import { logEntries } from '../runs/record/listeners.js';
import { isOfTenant } from '../store/record/ownership.js';
import type { RouteDeps } from './deps.js';
import { toActor, type Identity } from './identity.js';
import type { Call } from './routes/route.js';

/**
 * Loads a session of the caller's tenant for an action on it; every operator route that names a
 * session or a run passes this. @throws HelixError `not_found` also for one that is another
 * tenant's or not the caller's to read; `not_allowed` for another action
 */
export async function openForOperator(
  deps: RouteDeps,
  caller: Caller,
  action: Action,
  sessionId: string,
): Promise<SessionRecord> {
  const { record } = await findSession(deps.stateStore, sessionId, caller);
  return admit(deps, caller, action, record);
}

/** Checks that the caller may read across the tenant. @throws HelixError `not_allowed` */
export async function mayRead(call: { deps: RouteDeps; caller: Caller }): Promise<object> {
  await requireAllowed(call.deps, call.caller, 'read');
  return {};
}

export function mayReadRun(call: {
  deps: RouteDeps;
  caller: Caller;
  params: { runId: string };
}): Promise<SessionRecord> {
  return openRunForOperator(call.deps, call.caller, 'read', call.params.runId);
}

/** Loads the conversation of a run, or of a sub-agent's root run; see `openForOperator`. */
export async function openRunForOperator(
  deps: RouteDeps,
  caller: Caller,
  action: Action,
  runId: string,
): Promise<SessionRecord> {
  const record = await deps.stateStore.sessions.read(checkedRoot(runId));
  return admit(deps, caller, action, record);
}

function checkedRoot(runId: string): string {
  const sessionId = sessionOfRun(runId);
  if (!isStreamId(sessionId)) throw notFound();
  return rootOf(sessionId);
}

async function admit(
  deps: RouteDeps,
  caller: Caller,
  action: Action,
  record: SessionRecord | undefined,
): Promise<SessionRecord> {
  if (record === undefined || !isOfTenant(record, caller.tenantId)) throw notFound();
  try {
    await requireAllowed(deps, caller, 'read', record);
  } catch (error) {
    // A stranger must not learn that the session exists.
    throw HelixError.isInstance(error) ? notFound() : error;
  }
  if (action !== 'read') await requireAllowed(deps, caller, action, record);
  return record;
}

/** Guards data of all tenants together. @throws HelixError `not_allowed` */
export async function requireNoTenant(
  deps: Pick<RouteDeps, 'authorize'>,
  caller: Caller,
  what: string,
): Promise<void> {
  await requireAllowed(deps, caller, 'read');
  if (caller.tenantId !== undefined) {
    throw new HelixError('not_allowed', `${what} for callers without a tenant.`);
  }
}

/** Reads hidden messages: a person who decides must see everything that the model saw. */
export async function readHidden(
  { stateStore: { sessions } }: Pick<RouteDeps, 'stateStore'>,
  { sessionId, hasHidden }: Pick<SessionRecord, 'sessionId' | 'hasHidden'>,
): Promise<Pick<WaitingSession, 'hiddenMessages'>> {
  if (hasHidden !== true) return {};
  const rows = await sessions.rows(sessionId, 0);
  const hidden = rows.filter((row) => row.role === 'user' && row.hidden === true);
  if (hidden.length === 0) return {};
  const shown: object[] = convertToUIMessages(hidden, { filterHidden: false });
  return { hiddenMessages: shown as Required<WaitingSession>['hiddenMessages'] };
}

/** Lists read no larger conversation, since pages ask again each second for all that wait. */
const LISTED_BYTES = 64 * 1024;
const NOT_LISTED: Required<WaitingSession>['hiddenMessages'][number] = {
  id: 'hidden-messages',
  role: 'user',
  parts: [
    {
      type: 'text',
      text: 'This conversation is too large to show here what the model saw: open it to read the messages that it does not show.',
    },
  ],
};

/**
 * Works like `readHidden`, for lists and links, whose reads no budget counts: for a larger conversation
 * it only says that hidden messages exist.
 */
export async function listHidden(
  deps: Pick<RouteDeps, 'stateStore'>,
  record: Pick<SessionRecord, 'sessionId' | 'hasHidden' | 'storedBytes'>,
  mostBytes = LISTED_BYTES,
): Promise<Pick<WaitingSession, 'hiddenMessages'>> {
  const { hasHidden, storedBytes = 0 } = record;
  if (hasHidden !== true || storedBytes <= mostBytes) return readHidden(deps, record);
  return { hiddenMessages: [NOT_LISTED] };
}

export async function toOperatorQuestions(
  deps: RouteDeps,
  caller: Caller,
  { record, openCalls }: SessionCalls,
): Promise<OperatorQuestion[]> {
  const specs = new Map(openCalls.map(({ spec }) => [spec.toolCallId, spec]));
  return Promise.all(
    toPendingQuestions(openCalls).map(async (question) => {
      const spec = specs.get(question.toolCallId);
      if (spec === undefined) return { ...question, mayDecide: false };
      if (await mayDecide(deps, caller, record, spec)) return { ...question, mayDecide: true };
      return {
        ...question,
        mayDecide: false,
        ...(await explainWithheld(deps, caller, record, spec)),
      };
    }),
  );
}

/** @throws HelixError `not_allowed` for a caller without this role, or one that includes it */
export function requireRole({ roles }: Pick<Identity, 'roles'>, role: Role): void {
  if (!holdsRole(roles, role)) throw needsRole([role]);
}

/**
 * Guards an act that takes two operators: passes once another one has sent the same request.
 * Without accounts there is only one user, so it always passes.
 *
 * @throws HelixError `second_person_required`; this request is noted and counts as the first one
 */
export async function requireSecondOperator(
  call: Pick<Call<'caller', undefined, undefined, undefined>, 'request' | 'caller'> & {
    deps: Pick<RouteDeps, 'stateStore' | 'logger'>;
  },
  { action, subject }: Pick<DualRequest, 'action' | 'subject'>,
): Promise<void> {
  const { deps, caller } = call;
  const { userId: by, tenantId: tenant, personId } = caller;
  if (caller.isEveryone === true) return;
  const { audit } = deps.stateStore;
  const asked = await audit.asked(tenant);
  const mine = asked.find(
    (each) => each.action === action && each.subject === subject && each.by === by,
  );
  const request = { action, subject, by, personId };
  const isSeconded = hasSecond(asked, request, tenant);
  if (mine === undefined) {
    if (!isSeconded) {
      const act = { ...toAct(action, toActor(call), { tenant }), outcome: 'requested' };
      const target = action === 'open' ? { pseudonym: subject } : { person: subject };
      logEntries(deps.logger, await audit.record(act, target));
    }
    await audit.ask(tenant, request);
  }
  if (isSeconded) return;
  const text = 'This takes two operators: another one has to send the same request within a day.';
  throw new HelixError('second_person_required', text, {
    detail: { action, ...(mine !== undefined && { until: mine.until }) },
  });
}

/** Returns true if another person, not just another account, has asked for the same. Pure. */
export function hasSecond(
  asked: readonly DualRequest[],
  { action, subject, ...mine }: Omit<DualRequest, 'until'>,
  tenantId: string | undefined,
): boolean {
  const toAsker = ({ by, personId }: Pick<DualRequest, 'by' | 'personId'>) =>
    toPerson(by, { tenantId, personId });
  return asked.some(
    (each) =>
      each.action === action &&
      each.subject === subject &&
      !isSamePerson(toAsker(each), toAsker(mine)),
  );
}
