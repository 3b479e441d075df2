import {
  holdsRole,
  needsRole,
  type Actor,
  type Role,
  askedByOf,
  fulfils,
  hasAsked,
  lackedRoles,
  mayWithdraw,
  type AskedBy,
  verdictInTime,
} from '../../protocol/actor.js';
import type { ChunkOf } from '../../protocol/chunk.js';
import { HelixError } from '../../protocol/errors.js';
import { parseApprovalId, toShownSessionId } from '../../protocol/ids.js';
import type { AnswerOptions, Answers } from '../../runs/record/answers.js';
import type { CallSpec, OpenCall } from '../../store/contract/call-record.js';
import type { SessionCalls, SessionRecord } from '../../store/contract/sessions.js';
import { isQuestion } from '../../store/record/questions.js';
import type { Viewer } from '../turns/turn-progress.js';
import { isOwner, type Caller } from './access.js';

/** An action on an agent, or on a conversation that may belong to another user of the tenant. */
export type Action =
  'read' | 'answer' | 'extend' | 'stop' | 'resume' | 'retry' | 'pause' | 'schedule';

/** The object of an action. Lists of a tenant name no session. */
export interface Subject {
  session?: { sessionId: string; owner: string; tenant?: string | undefined; agent: string };
  call?: Pick<CallSpec, 'toolCallId' | 'toolName' | 'kind' | 'input'>;
}

/**
 * Decides whether a caller may act. It is called only for sessions of the caller's tenant. A tool's
 * rules for its approvers apply in addition.
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
 * The default rule: owners may do everything with their sessions; a viewer of the tenant reads all,
 * an approver also answers and extends, an operator also stops, resumes and repeats.
 */
export const authorizeByRole: Authorize = (caller, action, subject) =>
  missingRole(caller, action, subject) === undefined;

/** Returns the role that a caller lacks for an action under the default rule. */
function missingRole(caller: Caller, action: Action, { session }: Subject): Role | undefined {
  const needed = ROLE_FOR[action];
  return isOwner(session, caller) || holdsRole(caller.roles, needed) ? undefined : needed;
}

export interface AuthorityDeps {
  /** Default: `authorizeByRole`. */
  authorize?: Authorize | undefined;
  executor?: Partial<Pick<Answers, 'mayApprove'>> | undefined;
}

/**
 * @throws HelixError `not_allowed`, which names a sufficient role unless the host has its own rule;
 * `unavailable` if `authorize` does not decide in time
 */
export async function requireAllowed(
  { authorize = authorizeByRole }: AuthorityDeps,
  caller: Caller,
  action: Action,
  session?: SessionRecord,
  call?: CallSpec,
): Promise<void> {
  const subject = toSubject(session, call);
  if (await verdictInTime(authorize(caller, action, subject))) return;
  const role = authorize === authorizeByRole ? missingRole(caller, action, subject) : undefined;
  if (role !== undefined) throw needsRole([role]);
  throw new HelixError('not_allowed', 'You are not allowed to do this.');
}

type Conversation = Pick<SessionRecord, 'sessionId' | 'agent'> & AskedBy;

function toSubject(session: Conversation | undefined, call: CallSpec | undefined): Subject {
  const subject: Subject = {};
  if (session !== undefined) {
    const { sessionId, owner, tenant, agent } = session;
    subject.session = { sessionId: toShownSessionId(sessionId), owner, tenant, agent };
  }
  if (call !== undefined) {
    const { toolCallId, toolName, kind, input } = call;
    subject.call = { toolCallId, toolName, kind, input };
  }
  return subject;
}

/** Builds the executor's options for an answer: the person and the host's rule. */
export function toAnswerOptions(
  deps: AuthorityDeps,
  caller: Caller,
  actor: Omit<Actor, 'by'>,
  known?: AnswerOptions['known'],
): AnswerOptions {
  return {
    known,
    actor,
    responder: caller,
    permit: (conversation, call) => requireAllowed(deps, caller, 'answer', conversation, call),
  };
}

/**
 * Returns true if this caller's approval of a call would be taken.
 *
 * @throws HelixError `unavailable` if a rule does not decide in time; errors of a rule
 */
export async function decides(
  deps: AuthorityDeps,
  caller: Caller,
  conversation: Conversation,
  call: CallSpec,
): Promise<boolean> {
  const { authorize = authorizeByRole, executor } = deps;
  const isAllowed = authorize(caller, 'answer', toSubject(conversation, call));
  if (!(await verdictInTime(isAllowed))) return false;
  if (call.approvers === undefined) return true;
  if (executor?.mayApprove !== undefined) return executor.mayApprove(caller, conversation, call);
  // A tool's own rule cannot run without the agents' code.
  return (
    call.approvers.rule !== true && fulfils(call.approvers, caller, askedByOf(conversation, call))
  );
}

/** Works like `decides`, but returns false while a rule does not decide. */
export async function mayDecide(...of: Parameters<typeof decides>): Promise<boolean> {
  try {
    return await decides(...of);
  } catch {
    // The check of the answer decides; until then the question is for others.
    return false;
  }
}

/** The reason why a caller may not decide a call. */
export interface Withheld {
  /** Roles of which one suffices; absent if no role helps. */
  missingRoles?: Role[];
  /** True if the caller may still deny the call, having asked for it or changed it. */
  mayWithdraw?: true;
}

/** Explains why this caller may not decide a call, and what the caller may still do. */
export async function explainWithheld(
  { authorize = authorizeByRole }: AuthorityDeps,
  caller: Caller,
  conversation: Conversation,
  call: CallSpec,
): Promise<Withheld> {
  const subject = toSubject(conversation, call);
  const isAllowed = async (): Promise<boolean> => authorize(caller, 'answer', subject);
  const isPermitted = await verdictInTime(isAllowed()).catch(() => false);
  // A role does not satisfy a host's own rule.
  if (!isPermitted && authorize !== authorizeByRole) return {};
  const askedBy = askedByOf(conversation, call);
  const isWithdrawable =
    isPermitted && call.kind === 'approval' && mayWithdraw(caller, conversation, call);
  const usual = isPermitted ? undefined : missingRole(caller, 'answer', subject);
  // Under the default rule, a role that a tool demands may answer, whatever the usual role is.
  const demanded = lackedRoles(call.approvers, caller, askedBy);
  const roles = demanded.length > 0 || usual === undefined ? [...demanded] : [usual];
  const needsOther = call.approvers?.separate === true && hasAsked(caller, askedBy);
  return {
    ...(roles.length > 0 && !needsOther && { missingRoles: roles }),
    ...(isWithdrawable && { mayWithdraw: true }),
  };
}

/** Marks the open calls that this caller may not approve. */
export async function judged<Found extends SessionCalls>(
  deps: AuthorityDeps,
  caller: Caller,
  found: Found,
): Promise<Found> {
  const isAsked = ({ spec, decision, row }: OpenCall): boolean =>
    isQuestion(spec) &&
    decision === undefined &&
    row === undefined &&
    (spec.approvers !== undefined || (spec.kind === 'approval' && deps.authorize !== undefined));
  if (!found.openCalls.some(isAsked)) return found;
  const openCalls = await Promise.all(
    found.openCalls.map(async (call) =>
      isAsked(call) && !(await mayDecide(deps, caller, found.record, call.spec))
        ? { ...call, mayDecide: false }
        : call,
    ),
  );
  return { ...found, openCalls };
}

/** Returns the viewer for an owner who follows the conversation's stream. */
export function toViewer(deps: AuthorityDeps, sessionId: string, caller: Caller): Viewer {
  const { userId: owner, tenantId: tenant, roles = [], isEveryone = false } = caller;
  return {
    key: isEveryone ? 'everyone' : [...roles].sort().join('+'),
    judges: ({ approvers }) => approvers !== undefined || deps.authorize !== undefined,
    mayDecide: (question) => {
      const conversation = {
        sessionId,
        owner: owner.toWellFormed(),
        tenant,
        agent: question.agentType,
      };
      return mayDecide(deps, caller, conversation, toSpec(question));
    },
  };
}

function toSpec(question: ChunkOf<'tool_approval_request'>): CallSpec {
  const { toolCallId, toolName, approvalId, input, step, approvers } = question;
  const runId = parseApprovalId(approvalId)?.runId ?? '';
  return { toolCallId, toolName, kind: 'approval', approvalId, input, step, runId, approvers };
}
