import { AsyncLocalStorage } from 'node:async_hooks';
import type { McpError } from './mcp-error.js';

/** A request of which its transport may learn that no answer can come any more. */
export interface InFlight {
  fail: (error: McpError) => void;
  /** Its answer may come on another connection. */
  isResumable: boolean;
  /** Aborted once its caller waits for its answer no more. */
  over: AbortSignal;
}

/** The request on whose behalf something is sent: the SDK's client does not say. */
export const inFlight = new AsyncLocalStorage<InFlight>();
