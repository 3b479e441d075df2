import { isTerminal, type RunStatus } from '../../protocol/run.js';
import type { SessionOwner } from '../contract/waiting.js';
import type { Standing } from '../transitions/fold.js';
import { NOTHING, sumOf } from '../transitions/lib/usage.js';

/** Reads from a session what its owner is charged for. Pure. */

/** The fields of the root that are read. */
export const STANDING = [
  ...(['agent', 'owner', 'tenant', 'created', 'updated', 'status', 'stream'] as const),
  ...([
    'queued',
    'seq',
    'runN',
    'bytes',
    'logBytes',
    'counted',
    'spent',
    'usage',
    'model',
  ] as const),
];
type Fields = Record<(typeof STANDING)[number], string | undefined>;

/** What an owner is charged for one session. */
export interface Charged {
  owner: SessionOwner;
  agent: string;
  /** Of its newest step. */
  model: string;
  status: RunStatus;
  standing: Standing;
  /** `bytes` of a session that must be recounted. */
  uncounted?: number;
}

/**
 * Undefined if the session does not exist.
 *
 * @param values values of the fields STANDING
 * @param hasStream true if the log has not expired
 * @param below given before the session is erased, when its active run counts as if it ended now: what its
 * active sub-agents have used
 */
export function toCharged(
  values: readonly (string | null)[],
  hasStream: boolean,
  below?: readonly string[],
): Charged | undefined {
  const root = Object.fromEntries(
    STANDING.map((name, at) => [name, values[at] ?? undefined]),
  ) as Fields;
  const { agent, owner, tenant, status, stream } = root;
  if (agent === undefined || owner === undefined) return undefined;
  const number = (text = '0'): number => Number(text);
  const hasEnded = isTerminal(status as RunStatus);
  const isActive = stream !== 'paused' && !hasEnded;
  // As the end of a run adds it.
  const isCut = below !== undefined && !hasEnded;
  const used = below?.reduce(sumOf, root.usage ?? NOTHING) ?? NOTHING;
  const spent = isCut ? sumOf(`${used} 1`, root.spent) : root.spent;
  return {
    agent,
    model: root.model ?? '',
    status: status as RunStatus,
    owner: { owner, ...(tenant && { tenant }) },
    uncounted: root.counted === undefined ? number(root.bytes) : undefined,
    standing: {
      created: number(root.created),
      // Neither number ever decreases, and each change of a counted figure raises one of them.
      version: number(root.seq) + number(root.runN),
      bytes: Math.max(0, number(root.bytes)) + (hasStream ? Math.max(0, number(root.logBytes)) : 0),
      queued: number(root.queued),
      runs: isActive ? 1 : 0,
      updated: number(root.updated),
      spent,
    },
  };
}

/** The fields of the files that are read. */
export const FILE_FIGURES = ['bytes', 'changes'] as const;

/** With the files of the session. Each change of them makes the figures newer. */
export function withFiles(
  charged: Charged | undefined,
  [bytes, changes]: readonly (string | null)[],
): Charged | undefined {
  if (charged === undefined || changes == null) return charged;
  const { standing } = charged;
  const size = standing.bytes + Number(bytes ?? 0);
  const version = standing.version + Number(changes);
  return { ...charged, standing: { ...standing, bytes: size, version } };
}

export function isSame(a: SessionOwner, b: SessionOwner): boolean {
  return formatOwner(a) === formatOwner(b);
}

export function formatOwner({ owner, tenant = '' }: SessionOwner): string {
  return JSON.stringify([tenant.toWellFormed(), owner.toWellFormed()]);
}

export function parseOwner(text: string): SessionOwner {
  const [tenant, owner] = JSON.parse(text) as [string, string];
  return { owner, ...(tenant !== '' && { tenant }) };
}
