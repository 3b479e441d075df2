import type { Role } from '../../protocol/actor.js';
import { holdsRole } from '../../protocol/roles.js';
import type { CallSpec } from '../../stores/contract/call-record.js';
import { isOwner, type Caller } from './access.js';

/** What a caller does with a conversation that may belong to another user of the tenant, or with an agent. */
export type Action =
  'read' | 'answer' | 'extend' | 'stop' | 'resume' | 'retry' | 'pause' | 'schedule';

/** What an action is about. Lists of a tenant name no session. */
export interface Subject {
  session?: { sessionId: string; owner: string; tenant?: string | undefined; agent: string };
  /** The call that is answered. */
  call?: Pick<CallSpec, 'toolCallId' | 'toolName' | 'kind' | 'input'>;
}

/**
 * Decides whether a caller may act. Sessions of other tenants are never asked about: for them there
 * is no permission. What a tool demands of its approvers holds as well, whatever this returns.
 */
export type Authorize = (
  caller: Caller,
  action: Action,
  subject: Subject,
) => boolean | Promise<boolean>;

/** The role that each action needs in conversations of others. */
const ROLE_FOR: Record<Action, Role> = {
  read: 'viewer',
  answer: 'approver',
  extend: 'approver',
  stop: 'operator',
  resume: 'operator',
  retry: 'operator',
  pause: 'operator',
  schedule: 'operator',
};

/**
 * The default: owners may do everything with their sessions; a viewer of the tenant reads all, an
 * approver also answers and extends, an operator also stops, resumes and repeats.
 */
export const authorizeByRole: Authorize = (caller, action, subject) =>
  missingRole(caller, action, subject) === undefined;

/** The role that a caller lacks for an action, by the default. */
export function missingRole(
  caller: Caller,
  action: Action,
  { session }: Subject,
): Role | undefined {
  const needed = ROLE_FOR[action];
  return isOwner(session, caller) || holdsRole(caller.roles, needed) ? undefined : needed;
}
