import { notFound } from '../../ai-sdk/index.js';
import { hashInput, type LinkClaims } from '../../notify/links.js';
import { HelixError } from '../../protocol/errors.js';
import { sessionOfRun } from '../../protocol/ids.js';
import type { OpenCall } from '../../stores/contract/call-record.js';
import { isOfTenant } from '../../stores/record/waiting-page.js';
import type { RouteDeps } from '../deps.js';

/**
 * The call as the link's reader was shown it.
 *
 * @throws HelixError `not_found`, `stale_run`, `expired`, `already_completed`
 */
export async function findCall(
  { stateStore }: Pick<RouteDeps, 'stateStore'>,
  { sessionId, toolCallId, runId, inputHash, tenant }: LinkClaims,
): Promise<{ call: OpenCall; agent: string }> {
  const found = await stateStore.sessions.withCalls(sessionId);
  if (found === undefined || !isOfTenant(found.record, tenant)) throw notFound();
  const call = found.openCalls.find(({ spec }) => spec.toolCallId === toolCallId);
  if (call === undefined) throw await whyClosed(stateStore, runId, toolCallId);
  if (call.spec.runId !== runId || hashInput(call.spec.input) !== inputHash) throw notAsked();
  if (call.decision?.automatic === true) throw expired();
  return { call, agent: found.record.agent };
}

/** The run, perhaps a sub-agent's, has continued since: the result of the call says why. */
async function whyClosed(
  { runs, sessions }: RouteDeps['stateStore'],
  runId: string,
  toolCallId: string,
): Promise<HelixError> {
  const sessionId = sessionOfRun(runId);
  const run = (await runs.list(sessionId)).find((each) => each.runId === runId);
  if (run === undefined || run.rewound === true) return notAsked();
  const rows = await sessions.rows(sessionId, run.startRow);
  const row = rows.find((each) => each.role === 'tool' && each.toolCallId === toolCallId);
  const decision = row?.role === 'tool' ? row.decision : undefined;
  if (decision === undefined) return notAsked();
  return decision.automatic === true ? expired() : answered();
}

function expired(): HelixError {
  return new HelixError('expired', 'No one answered this question in time.');
}

function notAsked(): HelixError {
  return new HelixError('stale_run', 'The question of this link is not asked any more.');
}

export function answered(): HelixError {
  return new HelixError('already_completed', 'This question has been answered.');
}
