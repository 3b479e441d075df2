import type { Channel, Role } from '../../protocol/actor.js';
import type { Act, AuditAction, AuditDetail } from '../../session/input.js';

export type { Act, AuditAction, AuditDetail } from '../../session/input.js';

/** An entry of a tenant's chain. */
export interface AuditEntry {
  id: string;
  /** ms since the epoch, by the clock of the process that acted. */
  at: number;
  /** Pseudonym of the person; `rule` if there was none. */
  actor: string;
  roles?: readonly Role[] | undefined;
  via: Channel;
  tenant?: string | undefined;
  action: AuditAction;
  target: {
    /** As clients know it. */
    sessionId?: string | undefined;
    runId?: string | undefined;
    toolCallId?: string | undefined;
    toolName?: string | undefined;
    /** Pseudonym. */
    person?: string | undefined;
  };
  outcome: string;
  inputHash?: string | undefined;
  reasonHash?: string | undefined;
  detail?: AuditDetail | undefined;
}

/** What an act without a transition is about. */
export interface AuditTarget {
  sessionId?: string | undefined;
  /** A person by name, who gets a pseudonym. */
  person?: string | undefined;
  /** The same, only if the person has one. */
  sought?: string | undefined;
  pseudonym?: string | undefined;
}

/** An entry at its place in the chain. */
export interface ChainedEntry {
  /** From 1, without gaps. */
  n: number;
  entry: AuditEntry;
  /** The person's name, while the key of the pseudonym exists. */
  name?: string | undefined;
  /** The person was erased, and two operators together can open the name. */
  isSealed?: true | undefined;
}

/** An operator asks for what needs two of them: to erase a person, or to open a sealed name. */
export interface DualRequest {
  action: 'forget' | 'open';
  /** The person's name, or the pseudonym. */
  subject: string;
  /** Who asks; `personId` is the same for all accounts of one person. */
  by: string;
  personId?: string | undefined;
  /** ms since the epoch. */
  until: number;
}

export interface AuditQuery {
  /** ms since the epoch, inclusive. */
  since?: number | undefined;
  until?: number | undefined;
  action?: AuditAction | undefined;
  /** The person, by name. */
  actor?: string | undefined;
  limit: number;
  /** As returned with the page before. */
  cursor?: string | undefined;
  /** The entries behind this number, the oldest first. */
  after?: number | undefined;
}

export interface AuditPage {
  /** The newest first, or behind `after` the oldest. */
  entries: ChainedEntry[];
  /** Absent on the last page. */
  cursor?: string | undefined;
  /** Where a reader of `after` goes on: the newest entry that was looked at. */
  after?: number | undefined;
}

/** `fault` is of the first entry, by its number, that is not as it was written. */
export interface AuditVerdict {
  ok: boolean;
  /** Entries that were checked. */
  entries: number;
  /** Entries that carry a signature of a known key. */
  signed: number;
  /** Number of the oldest entry; more than 1 once old entries were dropped. */
  first: number;
  /** Hash of the newest entry, to be compared with one that was noted elsewhere. */
  head: string;
  fault?: { n: number; reason: AuditFault } | undefined;
}

/**
 * `unsigned`: a key is set, and the newest entries carry no signature of it. `unexpected`: it stands
 * behind the newest entry that was noted apart, so no relay has written it, or that note is gone.
 */
export type AuditFault =
  'missing' | 'changed' | 'malformed' | 'signature' | 'unsigned' | 'unexpected';

/**
 * The audit trail: one chain of entries per tenant, each with the hash of the one before. Acts get
 * there by way of their conversation's outbox, to which the transition that does the act appends.
 */
export interface Audit {
  /** Moves what is in the outbox of a conversation to its tenant's chain; returns what was new there. */
  relay: (sessionId: string) => Promise<AuditEntry[]>;
  /** Appends an act that no transition does; resolves once it is in the chain. */
  record: (act: Act, target: AuditTarget) => Promise<AuditEntry[]>;
  /** True if the chain has, or had, an entry of this id; remembered for 30 days. */
  knows: (tenant: string | undefined, id: string) => Promise<boolean>;
  page: (tenant: string | undefined, query: AuditQuery) => Promise<AuditPage>;
  /** Recomputes the chain from its oldest entry. */
  verify: (tenant: string | undefined) => Promise<AuditVerdict>;
  /**
   * Destroys the key of a person's pseudonym; true if there was one. The name of one who acted on what
   * belongs to others stays sealed as long as the trail keeps such an entry.
   */
  forget: (tenant: string | undefined, person: string) => Promise<boolean>;
  /** True if the trail has an entry by this person about what belongs to others. */
  hasActedOnOthers: (tenant: string | undefined, person: string) => Promise<boolean>;
  /** The sealed name; undefined if there is none of this pseudonym. */
  unseal: (tenant: string | undefined, pseudonym: string) => Promise<string | undefined>;
  /** Notes for a day that an operator asks; asking again does not prolong it. */
  ask: (tenant: string | undefined, request: Omit<DualRequest, 'until'>) => Promise<void>;
  /** What is asked for, and has not ended. */
  asked: (tenant: string | undefined) => Promise<DualRequest[]>;
}
