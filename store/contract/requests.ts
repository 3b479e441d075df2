/**
 * Requests that name themselves, so that one which is sent again is not carried out again. What is
 * remembered of them expires.
 */
export interface Requests {
  /** Notes that a request is carried out; `digest` is of its content. */
  claim: (key: string, digest: string, forMs: number) => Promise<RequestClaim>;
  /** Prolongs the claim of a request that is still being carried out, from now. */
  renew: (key: string, forMs: number) => Promise<void>;
  /** Keeps the reply. */
  settle: (key: string, reply: string, forMs: number) => Promise<void>;
  /** Forgets a request that was refused. */
  drop: (key: string) => Promise<void>;
}

export type RequestClaim =
  | { kind: 'new' }
  /** The same key came before, with this content; without a reply it is carried out now. */
  | { kind: 'known'; digest: string; reply?: string | undefined };
