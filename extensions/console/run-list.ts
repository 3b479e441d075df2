import { z } from 'zod';
import type { RouteDeps } from '../../api/extension.js';
import { HelixError } from '../../protocol/errors.js';
import { workflowIdOf } from '../../protocol/ids.js';
import type { OperatorRun, RunFilter as AskedFilter } from '../../protocol/operator.js';
import { isTerminal, RUN_STATUSES, type RunStatus } from '../../protocol/run.js';
import { WORKFLOW_TYPE } from '../../protocol/temporal.js';
import {
  isRefusedForGood,
  quote,
  toMs,
  withinDeadline,
  type RunsHost,
  type Timestamp,
} from '../../runs/extension.js';

/** Filter of a tenant's runs; a run has to match every field. */
export interface RunFilter extends Omit<z.infer<typeof AskedFilter>, 'owner'> {
  /** Absent for runs without a tenant. */
  tenant?: string | undefined;
  /** Only runs of these conversations, by their stored ids. */
  sessions?: readonly string[] | undefined;
}

/** A run as Temporal knows it. */
export type ListedRun = Omit<OperatorRun, 'sessionId' | 'owner' | 'subAgent'>;

export interface RunPage {
  runs: ListedRun[];
  /** Cursor of the next page; absent on the last page. */
  cursor?: string;
}

/** Lists of the tenants' runs from Temporal, up to two seconds late. */
export interface RunList {
  /** Newest first. @throws HelixError `invalid_query` */
  list: (
    filter: RunFilter,
    page: { limit: number; cursor?: string | undefined },
  ) => Promise<RunPage>;
  /** @throws HelixError `invalid_query` */
  count: (filter: RunFilter) => Promise<number>;
}

/** A list may be long, and a visibility store slower than the rest of the server. */
const LIST_MS = 5_000;
const PREFIX = workflowIdOf('');

/** @throws HelixError `unavailable` where runs have no search attributes */
export function createRunList(temporal: RunsHost['temporal']): RunList {
  if (temporal?.searchAttributes !== true) throw unlisted();
  const { client, taskQueue } = temporal;
  const { namespace } = client.options;

  async function ask<T>(filter: RunFilter, request: () => Promise<T>, cursor = ''): Promise<T> {
    try {
      return await withinDeadline(client.connection, request, LIST_MS);
    } catch (error) {
      if (!isRefusedForGood(error)) throw error;
      if (filter.query === undefined) throw cursor === '' ? unlisted(error) : ofOtherList(error);
      const { details } = error as { details?: unknown };
      const detail = typeof details === 'string' ? { reason: details.slice(0, 500) } : undefined;
      throw new HelixError('invalid_query', 'Temporal does not understand this filter.', {
        cause: error,
        detail,
      });
    }
  }

  return {
    list: async (filter, { limit, cursor = '' }) => {
      const query = toRunQuery(taskQueue, filter);
      const nextPageToken = Buffer.from(cursor, 'base64url');
      const page = { namespace, query, pageSize: limit, nextPageToken };
      const list = () => client.workflowService.listWorkflowExecutions(page);
      const { executions, nextPageToken: next } = await ask(filter, list, cursor);
      const runs = executions.flatMap((execution) => toListed(execution, filter.tenant));
      const isLast = next.length === 0;
      return { runs, ...(!isLast && { cursor: Buffer.from(next).toString('base64url') }) };
    },
    count: async (filter) => {
      const query = toRunQuery(taskQueue, filter);
      const { count } = await ask(filter, () =>
        client.workflowService.countWorkflowExecutions({ namespace, query }),
      );
      return Number(count);
    },
  };
}

function unlisted(cause?: unknown): HelixError {
  const text = 'Runs cannot be listed: this server lacks their search attributes.';
  return new HelixError('unavailable', text, { cause });
}

/**
 * Formats the filter for Temporal. The tenant stands before and behind the caller's own query,
 * which stays within its parentheses.
 *
 * @throws HelixError `invalid_query`
 */
export function toRunQuery(taskQueue: string, filter: RunFilter): string {
  const { tenant, query, status, agent, since, before, sessions } = filter;
  const own = tenant === undefined ? 'AgentTenant IS NULL' : `AgentTenant = ${quote(tenant)}`;
  const conditions = [
    own,
    `WorkflowType = '${WORKFLOW_TYPE}'`,
    `TaskQueue = ${quote(taskQueue)}`,
    "ExecutionStatus != 'ContinuedAsNew'",
  ];
  if (status !== undefined) conditions.push(`AgentStatus = '${status}'`);
  // A workflow that was closed from outside keeps the status that it had.
  if (status !== undefined && !isTerminal(status)) conditions.push("ExecutionStatus = 'Running'");
  if (agent !== undefined) conditions.push(`AgentName = ${quote(agent)}`);
  if (since !== undefined) conditions.push(`StartTime >= '${new Date(since).toISOString()}'`);
  if (before !== undefined) conditions.push(`StartTime < '${new Date(before).toISOString()}'`);
  if (sessions !== undefined) {
    conditions.push(`AgentSession IN (${sessions.map(quote).join(', ')})`);
  }
  if (query !== undefined) conditions.push(`(${checked(query)})`, own);
  return conditions.join(' AND ');
}

/** Syntax that servers read differently: escapes, other quotes and comments. */
const AMBIGUOUS = /[\\`;]|--|\/\*|#/;

/** @throws HelixError `invalid_query` for a query that could end its own parentheses */
function checked(query: string): string {
  let depth = 0;
  let quoted = '';
  for (const char of query) {
    if (quoted !== '') {
      if (char === quoted) quoted = '';
    } else if (char === "'" || char === '"') quoted = char;
    else if (char === '(') depth += 1;
    else if (char === ')') depth -= 1;
    if (depth < 0) break;
  }
  if (depth === 0 && quoted === '' && !AMBIGUOUS.test(query)) return query;
  throw new HelixError(
    'invalid_query',
    'The filter must have balanced parentheses and quotes, and no escapes or comments.',
  );
}

interface Execution {
  execution?: { workflowId?: string | null } | null;
  type?: { name?: string | null } | null;
  startTime?: Timestamp | null;
  closeTime?: Timestamp | null;
  searchAttributes?: {
    indexedFields?: Record<string, { data?: Uint8Array | null }> | null;
  } | null;
}

/** Converts a run of the tenant; empty for any other workflow, whatever the query was. */
export function toListed(
  { execution, type, startTime, closeTime, searchAttributes }: Execution,
  tenant: string | undefined,
): ListedRun[] {
  const read = (name: string): unknown => decode(searchAttributes?.indexedFields?.[name]?.data);
  const workflowId = execution?.workflowId ?? '';
  if (read('AgentTenant') !== tenant || type?.name !== WORKFLOW_TYPE) return [];
  if (!workflowId.startsWith(PREFIX)) return [];
  // This is a tenant's run, started where search attributes were not registered.
  if (tenant === undefined && workflowId.includes('~')) return [];
  const [status, agent, turn, model] = [
    read('AgentStatus'),
    read('AgentName'),
    read('AgentTurn'),
    read('AgentModel'),
  ];
  const endedAt = closeTime == null ? undefined : Math.floor(toMs(closeTime));
  return [
    {
      runId: workflowId.slice(PREFIX.length),
      agent: typeof agent === 'string' ? agent : '',
      status: toStatus(status, endedAt !== undefined),
      startedAt: Math.floor(toMs(startTime)),
      ...(typeof turn === 'number' && { turn }),
      ...(typeof model === 'string' && { model }),
      ...(endedAt !== undefined && { endedAt }),
    },
  ];
}

/** A workflow that was closed from outside keeps its last status. */
function toStatus(value: unknown, isClosed: boolean): RunStatus {
  const status = RUN_STATUSES.find((known) => known === value) ?? 'running';
  return isClosed && !isTerminal(status) ? 'failed' : status;
}

function decode(data: Uint8Array | null | undefined): unknown {
  if (data == null) return undefined;
  const value: unknown = JSON.parse(Buffer.from(data).toString());
  // Servers may return a keyword as a list of one.
  return Array.isArray(value) ? value[0] : value;
}

/** One page looks for runs of this many conversations. */
const CONVERSATIONS = 20;

const Place = z.tuple([z.string(), z.string()]);

interface Wanted extends RunFilter {
  /** Only runs of this user, by the newest change of their conversation. */
  owner?: string | undefined;
}

/**
 * Lists runs, newest first. Temporal does not know owners: a list by owner asks for the runs of a
 * few conversations at a time, so a page may be short or empty and still have a cursor.
 *
 * @throws HelixError `invalid_query`, `validation_error` for a cursor of another list
 */
export async function listRuns(
  { list }: Pick<RunList, 'list'>,
  owners: RouteDeps['stateStore']['owners'],
  { owner, ...filter }: Wanted,
  { limit, cursor }: { limit: number; cursor?: string | undefined },
): Promise<RunPage> {
  if (owner === undefined) return list(filter, { limit, cursor });
  const [from, inner] = cursor === undefined ? [] : parsePlace(cursor);
  const at = from === undefined || from === '' ? {} : { cursor: from };
  const page = await owners.page({ owner, tenant: filter.tenant }, { limit: CONVERSATIONS, ...at });
  const sessions = page.conversations.map(({ sessionId }) => sessionId);
  const found: RunPage =
    sessions.length === 0
      ? { runs: [] }
      : await list({ ...filter, sessions }, { limit, cursor: inner === '' ? undefined : inner });
  if (found.cursor !== undefined) {
    return { runs: found.runs, cursor: formatPlace([from ?? '', found.cursor]) };
  }
  if (page.cursor !== undefined) return { ...found, cursor: formatPlace([page.cursor, '']) };
  return found;
}

function formatPlace(place: z.infer<typeof Place>): string {
  return Buffer.from(JSON.stringify(place)).toString('base64url');
}

function parsePlace(cursor: string): z.infer<typeof Place> {
  try {
    return Place.parse(JSON.parse(Buffer.from(cursor, 'base64url').toString()));
  } catch (error) {
    throw ofOtherList(error);
  }
}

function ofOtherList(cause: unknown): HelixError {
  return new HelixError('validation_error', 'The cursor is of another list.', { cause });
}
