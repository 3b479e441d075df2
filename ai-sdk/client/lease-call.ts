import { randomId } from '../../protocol/ids.js';
import { ChatRequestError } from './errors.js';
import type { ChatRequests } from './chat-requests.js';
import { pause, persist, Retries, type Patience } from './patience.js';

/**
 * Lease duration, ms; pages renew after a third, and others may take over a crashed page's call.
 */
const LEASE_MS = 9_000;

/**
 * Creates leases of client calls, held until the call is over or the page is left. The holder is
 * this load of the page, not the tab: a duplicated tab copies the tab's storage.
 */
export function createCallLease(
  requests: Pick<ChatRequests, 'lease'>,
  patience: Patience,
  wait: typeof pause = pause,
): LeaseClientCall {
  const holder = `page-${randomId()}`;
  return async ({ sessionId, toolCallId, abortSignal }) => {
    const ask = (): Promise<unknown> =>
      requests.lease(sessionId, toolCallId, { holder, forMs: LEASE_MS }, { signal: abortSignal });
    const release = (): void => {
      const released = requests.lease(
        sessionId,
        toolCallId,
        { holder, forMs: 0 },
        { keepalive: true },
      );
      released.catch(() => undefined);
    };
    try {
      await persist(ask, new Retries(patience), abortSignal);
    } catch (error) {
      if (!(error instanceof ChatRequestError)) throw error;
      return error.code === 'call_leased' ? readWait(error) : false;
    }
    void renew(ask, wait, abortSignal);
    // The next load of the page can then take over the call at once.
    if (typeof addEventListener === 'function') {
      addEventListener('pagehide', release, { signal: abortSignal });
    }
    return true;
  };
}

async function renew(
  ask: () => Promise<unknown>,
  wait: typeof pause,
  signal: AbortSignal,
): Promise<void> {
  try {
    for (;;) {
      await wait(LEASE_MS / 3, signal);
      // Another page may have the lease by now; this page carries the call out nevertheless.
      await ask().catch(() => undefined);
    }
  } catch {
    // The call is over.
  }
}

/** Returns the remaining duration of another page's lease, ms. */
function readWait({ responseBody }: ChatRequestError): number {
  const { detail } = JSON.parse(responseBody) as { detail?: { forMs?: number } };
  return detail?.forMs ?? LEASE_MS;
}

export interface FailedCall {
  toolName: string;
  toolCallId: string;
}

export interface ClientCall extends FailedCall {
  sessionId: string;
  /** Fires when the call is over or its result is not needed any more; the lease then ends. */
  abortSignal: AbortSignal;
}

/**
 * Requests the right to carry out a call, for one of several pages. Resolves to false if the result
 * is not needed any more, and to ms after which to ask again if another page has the lease.
 */
export type LeaseClientCall = (call: ClientCall) => Promise<boolean | number>;
