import { holdsRole, needsRole, type Actor, type Role } from '../../protocol/actor.js';
import type { ChunkOf } from '../../protocol/chunk.js';
import { HelixError } from '../../protocol/errors.js';
import { parseApprovalId, toShownSessionId } from '../../protocol/ids.js';
import {
  askedByOf,
  fulfils,
  hasAsked,
  lackedRoles,
  mayWithdraw,
  type AskedBy,
  verdictInTime,
} from '../../protocol/responder.js';
import type { AnswerApi, AnswerOptions } from '../../runs/answers.js';
import type { CallSpec, OpenCall } from '../../store/contract/call-record.js';
import type { SessionCalls, SessionRecord } from '../../store/contract/sessions.js';
import { isQuestion } from '../../store/record/questions.js';
import type { Viewer } from '../turns/turn-progress.js';
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
function missingRole(caller: Caller, action: Action, { session }: Subject): Role | undefined {
  const needed = ROLE_FOR[action];
  return isOwner(session, caller) || holdsRole(caller.roles, needed) ? undefined : needed;
}

/** What decides about callers. */
export interface AuthorityDeps {
  /** Default: `authorizeByRole`. */
  authorize?: Authorize | undefined;
  executor?: Partial<Pick<AnswerApi, 'mayApprove'>> | undefined;
}

/**
 * @throws HelixError `not_allowed`, which names the role that would do unless the host has a rule of
 * its own; `unavailable` if `authorize` does not decide in time
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
    subject.session = { sessionId: toShownSessionId(sessionId), owner, agent };
    if (tenant !== undefined) subject.session.tenant = tenant;
  }
  if (call !== undefined) {
    const { toolCallId, toolName, kind, input } = call;
    subject.call = { toolCallId, toolName, kind, input };
  }
  return subject;
}

/** Who answers a call, and the rule of the host, as the executor takes them. */
export function toAnswerOptions(
  deps: AuthorityDeps,
  caller: Caller,
  actor: Omit<Actor, 'by'>,
  known?: Partial<SessionCalls>,
): AnswerOptions {
  return {
    known,
    actor,
    responder: caller,
    permit: (conversation, call) => requireAllowed(deps, caller, 'answer', conversation, call),
  };
}

/**
 * True if this caller's approval of a call would be taken.
 *
 * @throws HelixError `unavailable` if a rule does not decide in time; what a rule throws
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
  // Without the agents' code no function of a tool can be asked.
  return (
    call.approvers.rule !== true && fulfils(call.approvers, caller, askedByOf(conversation, call))
  );
}

/** As `decides`; false as well while a rule does not decide. */
export async function mayDecide(...of: Parameters<typeof decides>): Promise<boolean> {
  try {
    return await decides(...of);
  } catch {
    // The answer decides; until then the question is one for others.
    return false;
  }
}

/** What a caller who may not decide about a call reads of it. */
export interface Withheld {
  /** Roles of which the caller needs one, if it is for lack of a role. */
  missingRoles?: Role[];
  /** True if the caller may deny the call all the same, since it is the caller's doing that it asks. */
  mayWithdraw?: true;
}

/** Why a call is not this caller's to decide, and what the caller may do about it. */
export async function explainWithheld(
  { authorize = authorizeByRole }: AuthorityDeps,
  caller: Caller,
  conversation: Conversation,
  call: CallSpec,
): Promise<Withheld> {
  const subject = toSubject(conversation, call);
  const isAllowed = async (): Promise<boolean> => authorize(caller, 'answer', subject);
  const isPermitted = await verdictInTime(isAllowed()).catch(() => false);
  // No role passes a rule of the host's own.
  if (!isPermitted && authorize !== authorizeByRole) return {};
  const askedBy = askedByOf(conversation, call);
  const isWithdrawable =
    isPermitted && call.kind === 'approval' && mayWithdraw(caller, conversation, call);
  const usual = isPermitted ? undefined : missingRole(caller, 'answer', subject);
  // By the default rule, a role that a tool demands may answer whatever the usual one is.
  const demanded = lackedRoles(call.approvers, caller, askedBy);
  const roles = demanded.length > 0 || usual === undefined ? [...demanded] : [usual];
  const needsOther = call.approvers?.separate === true && hasAsked(caller, askedBy);
  return {
    ...(roles.length > 0 && !needsOther && { missingRoles: roles }),
    ...(isWithdrawable && { mayWithdraw: true }),
  };
}

/** A session as one caller sees it: calls are marked that this caller may not approve. */
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

/** The owner of a conversation who follows its stream. */
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
