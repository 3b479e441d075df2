import { createAnswerCheck } from '../agents/check-answer.js';
import type { AgentRegistry } from '../agents/registry.js';
import type { Actor } from '../protocol/actor.js';
import { parseToolAnswer, type UncheckedAnswer } from '../protocol/answers.js';
import { sessionOfRun } from '../protocol/ids.js';
import { toPerson, type Responder } from '../protocol/responder.js';
import {
  expireCalls,
  extendDeadline,
  submitAnswer,
  type AnswerDeps,
  type AnswerResult,
  type ExtendInput,
} from './record/submit-answer.js';
import type { CallSpec } from '../store/contract/call-record.js';
import type {
  ExtendDeadlineResult,
  LeaseCallResult,
  SettleCallResult,
} from '../store/contract/calls.js';
import type { SessionCalls, SessionRecord } from '../store/contract/sessions.js';
import type { Store } from '../store/contract/store.js';
import { createApproverDemands, type ConversationOfCall } from './approver-demands.js';
import { createCallWebhook } from './call-webhook.js';

/** Operations of people on pending calls. */
export interface AnswerApi {
  /**
   * Answers a pending call, and wakes the run if that was the last answer of its batch.
   *
   * @throws HelixError `validation_error`, `answer_too_large`, `invalid_result`, `invalid_input` or
   * `not_allowed`, or `unavailable` if a rule of the host does not decide in time; nothing is stored
   * then, and the call still waits
   */
  submitToolResult: (answer: UncheckedAnswer, options?: AnswerOptions) => Promise<AnswerResult>;
  /**
   * Returns true if a person meets the demands of a call's tool on its approver.
   *
   * @throws HelixError `unavailable` if the tool's function does not decide in time
   */
  mayApprove: (
    responder: Responder,
    conversation: ConversationOfCall,
    call: CallSpec,
  ) => Promise<boolean>;
  /**
   * Takes the body of a call's webhook as the call's result.
   *
   * @throws HelixError `not_found`, `webhook_closed`, `invalid_result`
   */
  callWebhook: (token: string, payload: unknown) => Promise<void>;
  /** Settles overdue calls, even if their run's timer did not fire; true if there were any. */
  expireCalls: (sessionId: string) => Promise<boolean>;
  /**
   * Extends a deadline. The run's timer fires at the old one, then reads the new one.
   *
   * @throws HelixError for a call with approvers as for an approval of it: `not_allowed`, `not_pending`
   */
  extendDeadline: (
    input: ExtendInput,
    options?: Pick<AnswerOptions, 'responder'>,
  ) => Promise<ExtendDeadlineResult>;
  /** Leases a client tool's call to one of several pages for a limited time. */
  leaseCall: (input: LeaseInput) => Promise<LeaseCallResult>;
}

export interface AnswerOptions {
  /** The answered session as the caller has just read it, which saves another read. */
  known?: Partial<SessionCalls> | undefined;
  /** The person's roles and the channel, for the audit trail. */
  actor?: Omit<Actor, 'by'> | undefined;
  /** The person as the host has verified it. Default: the `by` of the answer, without roles. */
  responder?: Responder | undefined;
  /** The answer is in a posted message of a chat; see `isAsShown`. */
  isPosted?: boolean | undefined;
  /** The host's own rule. @throws HelixError `not_allowed`, also about calls that demand nothing */
  permit?: ((conversation: SessionRecord, call: CallSpec) => Promise<void>) | undefined;
}

export interface LeaseInput {
  sessionId: string;
  toolCallId: string;
  /** Name of the page that executes the call. */
  holder: string;
  forMs: number;
}

export interface AnswerApiDeps {
  store: Store;
  agents: Pick<AgentRegistry, 'get'>;
  wakeRun: (runId: string) => Promise<void>;
  logger: { warn: (fields: object, message: string) => void };
}

/** Runs that an answer lets continue. */
type Resumed = Pick<Extract<SettleCallResult, { kind: 'stored' }>, 'resume' | 'others'>;

/** Writes Redis before it signals. The sweeper repeats a signal that is lost. */
export function createAnswerApi({ store, agents, wakeRun, logger }: AnswerApiDeps): AnswerApi {
  const check = createAnswerCheck(agents);
  const demands = createApproverDemands({ store, agents });

  /** Wakes the run that was answered, and others of the conversation, if they may continue. */
  async function wake(runId: string, { resume, others = [] }: Resumed): Promise<void> {
    const all = resume === undefined ? others : [{ runId }, ...others];
    for (const run of all) {
      await wakeRun(run.runId).catch((error: unknown) => {
        logger.warn({ err: error, runId: run.runId }, 'the run could not be signalled');
      });
    }
  }

  /** Finds the session and run that made the call, perhaps those of a sub-agent. */
  async function findAsker(
    sessionId: string,
    toolCallId: string,
  ): Promise<{ sessionId: string; runId: string }> {
    const call = await store.calls.read(sessionId, toolCallId);
    const runId = call?.spec.runId ?? `${sessionId}:0-none`;
    return { sessionId: sessionOfRun(runId), runId };
  }

  return {
    mayApprove: demands.areMet,
    callWebhook: createCallWebhook({ store, check, stored: wake }),
    submitToolResult: async (input, { known, actor, responder, permit, isPosted } = {}) => {
      const answer = parseToolAnswer(input);
      const who = responder ?? { userId: answer.by ?? '' };
      const deps: AnswerDeps = {
        store,
        check,
        permit: async (conversation, call) => {
          await permit?.(conversation, call);
          await demands.require(who, conversation, call, answer);
        },
      };
      const approver = responder && toPerson(responder.userId, responder);
      const how = { known, actor, approver, isPosted, isEveryone: who.isEveryone };
      const submitted = await submitAnswer(deps, answer, Date.now(), how);
      const { result, runId, record } = submitted;
      if (result.kind === 'stored') await wake(runId, result);
      // A repeated answer may be the last one, whose signal was lost.
      else if (result.kind === 'already_completed' && record?.resume !== undefined) {
        await wake(record.runId, record);
      }
      return result;
    },
    expireCalls: async (sessionId) => {
      const { openCalls = [] } = (await store.sessions.withCalls(sessionId)) ?? {};
      const now = Date.now();
      const due = openCalls.filter(({ deadline = Infinity }) => deadline <= now);
      const { settled } = await expireCalls(store, due, now);
      for (const { runId, result } of settled) await wake(runId, result);
      return settled.length > 0;
    },
    extendDeadline: async (input, { responder = { userId: input.by ?? '' } } = {}) => {
      const { runId: _runId, ...result } = await extendDeadline(store, input, async (call) => {
        const conversation = await store.sessions.read(input.sessionId);
        if (conversation !== undefined)
          await demands.requireApprover(responder, conversation, call);
      });
      return result;
    },
    leaseCall: async ({ sessionId, ...lease }) =>
      store.calls.lease({ ...(await findAsker(sessionId, lease.toolCallId)), ...lease }),
  };
}
