import { HelixError } from '../protocol/errors.js';
import { ANONYMOUS } from '../protocol/ids.js';
import type { Row } from '../protocol/rows.js';
import { isTerminal } from '../protocol/run.js';
import type { OwnerCounts, QuotaExceeded, AdmitInput } from '../stores/contract/owners.js';
import type { BeginInput } from '../stores/contract/runs.js';
import type { Store } from '../stores/contract/store.js';
import type { SessionOwner } from '../stores/contract/waiting.js';
import { titleOf } from '../stores/record/conversation-title.js';
import { toStoredRow } from '../stores/record/to-stored-row.js';

/** Limits of one user, and of all users of a tenant together. */
export interface Quotas {
  user: OwnerCounts;
  tenant: OwnerCounts;
}

const MEGABYTE = 1024 * 1024;

/** Quotas as settings name them; all are optional. */
export interface QuotaSettings {
  QUOTA_RUNS?: number | undefined;
  QUOTA_QUEUED?: number | undefined;
  QUOTA_SESSIONS?: number | undefined;
  QUOTA_MB?: number | undefined;
  QUOTA_TENANT_FACTOR?: number | undefined;
}

/** The quotas of the settings; undefined if none of a user's is set. */
export function quotasOfSettings(settings: QuotaSettings): Quotas | undefined {
  const { QUOTA_RUNS, QUOTA_QUEUED, QUOTA_SESSIONS, QUOTA_MB, QUOTA_TENANT_FACTOR } = settings;
  const user = {
    ...(QUOTA_RUNS !== undefined && { runs: QUOTA_RUNS }),
    ...(QUOTA_QUEUED !== undefined && { queued: QUOTA_QUEUED }),
    ...(QUOTA_SESSIONS !== undefined && { sessions: QUOTA_SESSIONS }),
    ...(QUOTA_MB !== undefined && { bytes: QUOTA_MB * MEGABYTE }),
  };
  return Object.keys(user).length === 0 ? undefined : toQuotas(user, QUOTA_TENANT_FACTOR);
}

/** The default limits of a user. */
const USER: OwnerCounts = { runs: 20, queued: 10, sessions: 1_000, bytes: 256 * MEGABYTE };
/** As many times that for a tenant. */
const TENANT_FACTOR = 50;

/** Quotas with some numbers of a user's replaced. */
export function toQuotas(user: Partial<OwnerCounts> = {}, tenantFactor = TENANT_FACTOR): Quotas {
  const { runs, queued, sessions, bytes } = { ...USER, ...user };
  return {
    user: { runs, queued, sessions, bytes },
    tenant: {
      runs: runs * tenantFactor,
      queued: queued * tenantFactor,
      sessions: sessions * tenantFactor,
      bytes: bytes * tenantFactor,
    },
  };
}

/**
 * The quotas of an owner. By default the unnamed user has none: a program that names no users owns
 * all sessions as that one user.
 */
export function createQuotasOf(
  quotas: Quotas | 'unlimited' | undefined,
): (owner: SessionOwner) => Quotas | undefined {
  if (quotas !== undefined) return () => (quotas === 'unlimited' ? undefined : quotas);
  const usual = toQuotas();
  return ({ owner, tenant }) => (owner === ANONYMOUS && tenant === undefined ? undefined : usual);
}

const WORDS: Record<keyof OwnerCounts, (limit: string) => string> = {
  runs: (limit) =>
    `${limit} answers are being written at once, as many as may be. Try again when one has ended.`,
  queued: (limit) =>
    `${limit} messages wait for their turn, as many as may be. Try again when one was answered.`,
  sessions: (limit) =>
    `There are ${limit} conversations, as many as may be. Delete some to begin others.`,
  bytes: (limit) => `The conversations hold ${limit}, as much as may be. Delete some to continue.`,
};

/** The refusal of what would go beyond a limit. */
export function quotaExceeded({ what, of, limit, used }: QuotaExceeded): HelixError {
  const number = what === 'bytes' ? `${String(Math.round(limit / MEGABYTE))} MB` : String(limit);
  const whose = of === 'tenant' ? 'In your organisation: ' : '';
  return new HelixError('quota_exceeded', `${whose}${WORDS[what](number)}`, {
    detail: { what, of, limit, used },
  });
}

export interface AdmissionDeps {
  /** The limits of an owner; undefined: nothing is refused. */
  quotasOf: (owner: SessionOwner) => Quotas | undefined;
  /** Throws HelixError if the owner has spent a budget. */
  checkBudget: (owner: SessionOwner) => Promise<void>;
  /** Told of what goes on after its request. */
  inBackground: (work: Promise<void>) => void;
  logger: { warn: (fields: object, message: string) => void };
}

/**
 * A store that begins, continues and copies nothing beyond the owner's limits. What a request adds counts in this
 * process at once, and is charged once it is stored; what a process that dies in between has stored is charged by the
 * next change of the session, or the repair.
 *
 * Its `begin`, `resume`, `rewind` and `branch` throw HelixError `quota_exceeded`, the first three also
 * `budget_exceeded`.
 */
export function admitBeforeBegin(
  store: Store,
  { quotasOf, checkBudget, inBackground, logger }: AdmissionDeps,
): Store {
  const { runs, sessions, owners } = store;

  async function admitted<Result>(
    input: AdmitInput,
    title: string,
    change: () => Promise<Result>,
    isKnown: () => Promise<boolean> = () => Promise.resolve(false),
  ): Promise<Result> {
    const { owner, tenant, sessionId } = input;
    try {
      if (input.purpose !== 'copy') await checkBudget(input);
    } catch (error) {
      if (await isKnown()) return change();
      throw error;
    }
    const limits = quotasOf(input);
    const admit = () => owners.admit({ ...input, limits });
    let result = await admit();
    if (result.kind === 'exceeded' && result.what === 'sessions') {
      // A session that is not counted yet is not a new one.
      await owners.fold(sessionId);
      result = await admit();
    }
    if (result.kind === 'exceeded') {
      // Messages that were accepted before add nothing.
      if (await isKnown()) return change();
      throw quotaExceeded(result);
    }
    const { done } = result;
    try {
      return await change();
    } finally {
      // The request does not wait: until then it counts in this process.
      const charged = owners.fold(sessionId, { owner, tenant }, title).catch((error: unknown) => {
        const fields = { err: error, sessionId };
        logger.warn(fields, 'what a request has added is left to be charged later');
      });
      inBackground(charged.finally(done));
    }
  }

  async function wasAccepted({ sessionId, messages }: BeginInput): Promise<boolean> {
    const ids = messages.map(({ id }) => id);
    return (await sessions.acceptedMessages(sessionId, ids)).length === ids.length;
  }

  /** For a new run of an existing session; a session with an active run gets none. */
  async function admittedForRun<Result>(
    sessionId: string,
    rows: readonly Row[],
    change: () => Promise<Result>,
  ): Promise<Result> {
    const record = await sessions.read(sessionId);
    if (record === undefined || !isTerminal(record.status)) return change();
    const input = { sessionId, purpose: 'alone', bytes: sizeOf(rows), ...ownerOf(record) } as const;
    return admitted(input, '', change);
  }

  return {
    ...store,
    runs: {
      ...runs,
      begin: (input, noted) => {
        const rows = input.messages.map(({ row }) => row);
        const mayWait = input.policy !== undefined && input.policy !== 'reject';
        return admitted(
          {
            ...ownerOf(input),
            sessionId: input.sessionId,
            purpose: mayWait ? 'run' : 'alone',
            bytes: sizeOf(rows),
          },
          titleOf(rows),
          () => runs.begin(input, noted),
          () => wasAccepted(input),
        );
      },
      resume: (input) => admittedForRun(input.sessionId, [], () => runs.resume(input)),
      rewind: (input) => {
        const edited = input.mode === 'retry' ? (input.messages ?? []) : [];
        const rows = edited.map(({ row }) => row);
        return admittedForRun(input.sessionId, rows, () => runs.rewind(input));
      },
    },
    sessions: {
      ...sessions,
      branch: (input) =>
        admitted(
          {
            ...ownerOf(input),
            sessionId: input.sessionId,
            purpose: 'copy',
            bytes: sizeOf(input.rows),
          },
          titleOf(input.rows),
          () => sessions.branch(input),
        ),
    },
  };
}

function ownerOf({ owner, tenant }: SessionOwner): SessionOwner {
  return { owner, tenant };
}

function sizeOf(rows: readonly Row[]): number {
  return rows.reduce((sum, row) => sum + Buffer.byteLength(toStoredRow(row)), 0);
}
