import { Router, type Request, type RequestHandler, type Response } from 'express';
import { toAnswerOptions, notFound, type Caller } from '../../ai-sdk/index.js';
import { HelixError } from '../../protocol/errors.js';
import { formatApprovalId, sessionOfRun } from '../../protocol/ids.js';
import { LIMITS } from '../../protocol/limits.js';
import { verdictInTime } from '../../protocol/actor.js';
import { hashInput } from '../../protocol/shown-call.js';
import type { OpenCall } from '../../store/contract/call-record.js';
import type { SessionRecord } from '../../store/contract/sessions.js';
import { firstRowOf } from '../../store/record/first-row.js';
import { isOfTenant } from '../../store/record/ownership.js';
import {
  listHidden,
  personIdOf,
  readBody,
  toAnswerReply,
  type RouteDeps,
} from '../../api/extension.js';
import { readLink, type LinkClaims } from './decide-links.js';
import { toDecidedPage, toDecisionPage, toRefusedPage } from './decide-pages.js';
import { titleOfAgent, titleOfTool } from './message.js';
import type { NotifySettings } from './settings.js';

/** Size limit of a form with a token, a decision and a reason. */
const FORM_BYTES = LIMITS.errorTextBytes + 8 * 1024;

/** A page reads at most this much of the conversation, because mail scanners open links as well. */
const READ_BYTES = 2 * 1024 * 1024;

/**
 * Serves the page behind the links of notices. Reading the page changes nothing; its form decides as the person
 * whom the link names.
 */
export function createDecidePages(
  deps: RouteDeps,
  { linkKeys, mayStillDecide }: Pick<NotifySettings, 'linkKeys' | 'mayStillDecide'>,
): RequestHandler {
  /** @throws HelixError `unauthorized`, `expired`, `not_allowed`; `unavailable` if the host's rule is late */
  async function openLink(token: string): Promise<LinkClaims> {
    const claims = await readLink(linkKeys, token);
    const { personId: _, ...person } = toCaller(claims);
    if (await verdictInTime(mayStillDecide?.(person) ?? true)) return claims;
    throw new HelixError('not_allowed', 'You may not decide this any more.');
  }

  const show = orPage(async (request, response) => {
    const token = typeof request.query['token'] === 'string' ? request.query['token'] : '';
    const claims = await openLink(token);
    const { call, record } = await findCall(deps, claims);
    const { deadline } = call;
    const { toolName, input, about } = call.spec;
    const agent = about?.agent ?? record.agent;
    if (call.row !== undefined || call.decision !== undefined) throw closed('already_completed');
    const { hiddenMessages = [] } = await listHidden(deps, record, READ_BYTES);
    const page = toDecisionPage({
      token,
      input,
      deadline,
      person: claims.sub,
      agent: titleOfAgent(deps.agents, agent),
      title: about?.title ?? titleOfTool(deps.agents, agent, toolName),
      description: about?.description,
      hidden: hiddenMessages.map(({ parts }) => toPlainText(parts)),
    });
    send(response, 200, page);
  });
  const decide = orPage(async (request, response) => {
    const form = await readForm(request);
    const claims = await openLink(form.get('token') ?? '');
    const decision = form.get('decision');
    if (decision !== 'approve' && decision !== 'deny') {
      throw new HelixError('validation_error', 'Approve or deny.');
    }
    const { sessionId, toolCallId, runId, inputHash, sub: by, roles } = claims;
    await findCall(deps, claims);
    const reason = form.get('reason')?.trim();
    const approved = decision === 'approve';
    const result = await deps.executor.submitToolResult(
      {
        kind: 'approval-response',
        sessionId,
        toolCallId,
        by,
        approved,
        approvalId: formatApprovalId(runId, toolCallId),
        inputHash,
        ...(reason !== undefined && reason !== '' && { reason }),
      },
      toAnswerOptions(deps, toCaller(claims), { roles, via: 'link' }),
    );
    toAnswerReply(result);
    if (isPage(request)) send(response, 200, toDecidedPage(approved));
    else response.status(200).json({ result: 'stored', approved });
  });
  const pages = Router();
  pages.route('/api/decide').get(show).post(decide);
  return pages;
}

/** Returns the text of a message, with files and custom parts as JSON. */
function toPlainText(parts: readonly { type: string }[]): string {
  return parts
    .map((part) => ('text' in part ? String(part.text) : JSON.stringify(part)))
    .join('\n');
}

/** Returns the person whom the link names, even on a server without accounts: the link went to one person. */
function toCaller({
  sub: userId,
  tenant,
  roles,
  person,
}: LinkClaims): Caller & Pick<LinkClaims, 'roles'> {
  return {
    userId,
    roles,
    ...(tenant !== undefined && { tenantId: tenant }),
    ...(person !== undefined && { personId: personIdOf(person) }),
  };
}

/** Answers refusals with a page for browsers and with typed JSON for programs. */
function orPage(work: (request: Request, response: Response) => Promise<void>): RequestHandler {
  return async (request, response) => {
    try {
      await work(request, response);
    } catch (error) {
      const isTyped = HelixError.isInstance(error) && error.statusCode < 500;
      if (!isTyped || !isPage(request)) throw error;
      send(response, error.statusCode, toRefusedPage(error));
    }
  };
}

function isPage(request: Request): boolean {
  return request.accepts(['json', 'html']) === 'html';
}

function send(response: Response, status: number, page: string): void {
  response
    .status(status)
    .set({ 'cache-control': 'no-store', 'referrer-policy': 'no-referrer', 'x-robots-tag': 'none' })
    .type('html')
    .send(page);
}

/** @throws HelixError `body_too_large`, `unsupported_media_type` */
async function readForm(request: Request): Promise<URLSearchParams> {
  if (request.is('application/x-www-form-urlencoded') === false) {
    throw new HelixError('unsupported_media_type', 'Send the form of the page.');
  }
  return new URLSearchParams(String(await readBody(request, FORM_BYTES, () => undefined, 'form')));
}

/**
 * Finds the call and checks that it is still the one that the link was made for.
 *
 * @throws HelixError `not_found`, `stale_run`, `expired`, `already_completed`
 */
async function findCall(
  { stateStore }: Pick<RouteDeps, 'stateStore'>,
  { sessionId, toolCallId, runId, inputHash, tenant }: LinkClaims,
): Promise<{ call: OpenCall; record: SessionRecord }> {
  const found = await stateStore.sessions.withCalls(sessionId);
  if (found === undefined || !isOfTenant(found.record, tenant)) throw notFound();
  const call = found.openCalls.find(({ spec }) => spec.toolCallId === toolCallId);
  if (call === undefined) throw await whyClosed(stateStore, runId, toolCallId);
  if (call.spec.runId !== runId || hashInput(call.spec.input) !== inputHash)
    throw closed('stale_run');
  if (call.decision?.automatic === true) throw closed('expired');
  return { call, record: found.record };
}

/** Explains from the call's result why it no longer waits: its run, or a sub-agent's, went on. */
async function whyClosed(
  { runs, sessions }: RouteDeps['stateStore'],
  runId: string,
  toolCallId: string,
): Promise<HelixError> {
  const sessionId = sessionOfRun(runId);
  const all = await runs.list(sessionId);
  const run = all.find((each) => each.runId === runId);
  if (run === undefined || run.rewound === true) return closed('stale_run');
  const rows = await sessions.rows(sessionId, firstRowOf(run, all));
  const row = rows.find((each) => each.role === 'tool' && each.toolCallId === toolCallId);
  const decision = row?.role === 'tool' ? row.decision : undefined;
  if (decision === undefined) return closed('stale_run');
  return closed(decision.automatic === true ? 'expired' : 'already_completed');
}

const CLOSED = {
  already_completed: 'This question has been answered.',
  expired: 'No one answered this question in time.',
  stale_run: 'The question of this link is not asked any more.',
};

function closed(code: keyof typeof CLOSED): HelixError {
  return new HelixError(code, CLOSED[code]);
}
