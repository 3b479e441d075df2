/** Requests with idempotency keys: a repeated request is not carried out again. The memory of a request expires. */
export interface Requests {
  /** Notes that a request is in progress. `digest` is the digest of its content. */
  claim: (key: string, digest: string, forMs: number) => Promise<RequestClaim>;
  /** Extends the claim of a request in progress to `forMs` from now. */
  renew: (key: string, forMs: number) => Promise<void>;
  /** Keeps the reply, and the digest that the claim had: the claim may have expired meanwhile. */
  settle: (key: string, reply: string, forMs: number, digest: string) => Promise<void>;
  /** Forgets a request that was refused, but keeps the reply to an earlier one of its key. */
  drop: (key: string) => Promise<void>;
}

export type RequestClaim =
  | { kind: 'new' }
  /** The key was used before, for content with this digest. Without a reply, the request is in progress. */
  | { kind: 'known'; digest: string; reply?: string | undefined };
