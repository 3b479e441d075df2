import type { Channel, Role } from '../../protocol/actor.js';
import type { Act, AuditAction, AuditDetail } from '../../session/input.js';

export type { Act, AuditAction, AuditDetail } from '../../session/input.js';

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
    /** The id that clients know. */
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

/** The target of an act that no change records. */
export interface AuditTarget {
  sessionId?: string | undefined;
  /** Name of a person, who gets a pseudonym if there is none. */
  person?: string | undefined;
  /** Name of a person, looked up without creating a pseudonym. */
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
  /** The person was erased; two operators together can open the name. */
  isSealed?: true | undefined;
}

/** An operator's request that needs a second operator: to erase a person, or to open a sealed name. */
export interface DualRequest {
  action: 'forget' | 'open';
  /** The person's name, or pseudonym. */
  subject: string;
  /** The requester. `personId` is the same for all accounts of one person. */
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
  cursor?: string | undefined;
  /** Reads entries after this number, oldest first. */
  after?: number | undefined;
}

export interface AuditPage {
  /** Newest first; with `after` oldest first. */
  entries: ChainedEntry[];
  /** Absent on the last page. */
  cursor?: string | undefined;
  /** The newest examined entry, from which a reader with `after` continues. */
  after?: number | undefined;
}

/** Result of a check. `fault` describes the first entry that differs from what was written. */
export interface AuditVerdict {
  ok: boolean;
  entries: number;
  /** Number of entries signed with a known key. */
  signed: number;
  /** Number of the oldest entry; more than 1 once old entries were dropped. */
  first: number;
  /** Hash of the newest entry, for comparison with a hash noted elsewhere. */
  head: string;
  fault?: { n: number; reason: AuditFault } | undefined;
}

/**
 * `unsigned`: a key is configured, but the newest entries carry no signature of it. `unexpected`: the entry comes after
 * the separately noted newest entry, so no relay wrote it, or that note is lost.
 */
export type AuditFault =
  'missing' | 'changed' | 'malformed' | 'signature' | 'unsigned' | 'unexpected';

/**
 * The audit trail: one chain of entries per tenant. Each entry contains the hash of the previous one. A change appends
 * its act to the conversation's outbox, from which it is relayed to the chain.
 */
export interface Audit {
  /** Moves a conversation's outbox to its tenant's chain. Returns the entries that were new there. */
  relay: (sessionId: string) => Promise<AuditEntry[]>;
  /** Appends an act that no change records. Resolves once it is in the chain. */
  record: (act: Act, target: AuditTarget) => Promise<AuditEntry[]>;
  /** Returns true if the chain has, or had, an entry with this id; remembered for 30 days. */
  knows: (tenant: string | undefined, id: string) => Promise<boolean>;
  page: (tenant: string | undefined, query: AuditQuery) => Promise<AuditPage>;
  /** Recomputes the chain from its oldest entry. */
  verify: (tenant: string | undefined) => Promise<AuditVerdict>;
  /**
   * Destroys the key of a person's pseudonym. Returns true if there was one. The name of a person who acted on other
   * people's data stays sealed as long as the trail has such an entry.
   */
  forget: (tenant: string | undefined, person: string) => Promise<boolean>;
  /** Returns true if the trail has an entry by this person about other people's data. */
  hasActedOnOthers: (tenant: string | undefined, person: string) => Promise<boolean>;
  /** Returns the sealed name of a pseudonym, if there is one. */
  unseal: (tenant: string | undefined, pseudonym: string) => Promise<string | undefined>;
  /** Notes an operator's request for a day. Repeating it does not extend it. */
  ask: (tenant: string | undefined, request: Omit<DualRequest, 'until'>) => Promise<void>;
  asked: (tenant: string | undefined) => Promise<DualRequest[]>;
}
