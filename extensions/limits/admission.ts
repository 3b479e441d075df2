import { setTimeout as pause } from 'node:timers/promises';
import type { AdmitInput } from '../../runs/extension.js';
import { COUNTED, NO_COUNTS, type OwnerCounts, type Owners } from '../../store/contract/owners.js';
import { quotaExceeded, type QuotaExceeded, type Quotas } from './quotas.js';

/** A request that others hold up is refused after this long. */
const MAX_WAIT_MS = 5_000;

interface Counted {
  counts: OwnerCounts;
}

/** The additions that an admitted request is about to make. */
interface Reservation extends Counted {
  owner: string;
  tenant: string;
  sessionId: string;
  ended: Promise<void>;
}

interface Admission {
  /** Absent if the request is admitted. */
  refusal?: QuotaExceeded | undefined;
  /** Reservations without which it would be admitted. */
  others: readonly Reservation[];
  done: () => void;
}

const NOTHING = (): void => undefined;

/** Reservations of requests to a store, in this process. */
const reservations = new WeakMap<Owners, Set<Reservation>>();

async function tryToAdmit(
  { sessionId, purpose, bytes, owner, tenant = '' }: AdmitInput,
  limits: Quotas,
  owners: Owners,
): Promise<Admission> {
  const found = await owners.counts({ owner, tenant }, sessionId);
  const reserved = reservations.get(owners) ?? new Set();
  reservations.set(owners, reserved);
  const isOwners = (each: Reservation): boolean => each.owner === owner;
  // Users without a tenant are counted alone.
  const others = [...reserved].filter(
    (each) => each.tenant === tenant && (tenant !== '' || isOwners(each)),
  );
  const ofOwner = others.filter(isOwners);
  const ofSession = ofOwner.filter((each) => each.sessionId === sessionId);
  const session = sumOf([{ counts: found.session }, ...ofSession]);
  const isActive = session.runs > 0;
  const counts = {
    runs: purpose === 'copy' || isActive ? 0 : 1,
    queued: purpose === 'run' && isActive ? 1 : 0,
    sessions: session.sessions === 0 ? 1 : 0,
    // An owner at the limit gets nothing more, however small the request.
    bytes: Math.max(bytes, 1),
  };
  const exceededWith = (
    user: readonly Counted[],
    all: readonly Counted[],
  ): QuotaExceeded | undefined =>
    exceededBy(counts, 'user', sumOf([{ counts: found.user }, ...user]), limits) ??
    exceededBy(counts, 'tenant', sumOf([{ counts: found.tenant }, ...all]), limits);
  const stays = exceededWith([], []);
  if (stays !== undefined) return { refusal: stays, others: [], done: NOTHING };
  const refusal = exceededWith(ofOwner, others);
  if (refusal !== undefined) return { refusal, others, done: NOTHING };
  let end = NOTHING;
  const ended = new Promise<void>((resolve) => (end = resolve));
  const own = { owner, tenant, sessionId, counts, ended };
  reserved.add(own);
  const done = (): void => {
    reserved.delete(own);
    end();
  };
  return { others, done };
}

async function admitInTime(...request: Parameters<typeof tryToAdmit>): Promise<Admission> {
  const leave = new AbortController();
  const patience = pause(MAX_WAIT_MS, undefined, { signal: leave.signal, ref: false }).then(
    () => 'over' as const,
    () => 'over' as const,
  );
  try {
    for (;;) {
      const tried = await tryToAdmit(...request);
      if (tried.refusal === undefined || tried.others.length === 0) return tried;
      // Additions of others count twice until they are done, and some of them begin nothing.
      const ended = await Promise.race([patience, ...tried.others.map((each) => each.ended)]);
      if (ended === 'over') return tried;
    }
  } finally {
    leave.abort();
  }
}

/**
 * Admits a request within its quotas and reserves its additions in this process, until the returned function is
 * called, after the charge. A request that exceeds a quota only because of other reservations waits for them. Processes
 * do not see each other's reservations, so several may together exceed a quota.
 *
 * @throws HelixError `quota_exceeded`
 */
export async function admit(
  limits: Quotas | undefined,
  input: AdmitInput,
  owners: Owners,
): Promise<() => void> {
  if (limits === undefined) return NOTHING;
  let tried = await admitInTime(input, limits, owners);
  if (tried.refusal?.what === 'runs' && tried.refusal.of === 'user') {
    await owners.refresh(input);
    tried = await admitInTime(input, limits, owners);
  }
  if (tried.refusal?.what === 'sessions') {
    // The index may not list this session yet although it exists.
    await owners.fold(input.sessionId);
    tried = await admitInTime(input, limits, owners);
  }
  if (tried.refusal !== undefined) throw quotaExceeded(tried.refusal);
  return tried.done;
}

function sumOf(all: readonly Counted[]): OwnerCounts {
  const sum = { ...NO_COUNTS };
  for (const { counts } of all) for (const what of COUNTED) sum[what] += counts[what];
  return sum;
}

function exceededBy(
  counts: OwnerCounts,
  of: keyof Quotas,
  inUse: OwnerCounts,
  { [of]: limits }: Quotas,
): QuotaExceeded | undefined {
  const what = COUNTED.find(
    (each) => counts[each] > 0 && inUse[each] + counts[each] > limits[each],
  );
  if (what === undefined) return undefined;
  return { what, of, limit: limits[what], used: inUse[what] };
}
