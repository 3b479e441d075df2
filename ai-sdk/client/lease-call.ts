import { ChatRequestError } from './chat-request-error.js';
import type { ChatRequests } from './chat-requests.js';
import type { LeaseClientCall } from './client-call.js';
import { pause, persist, Retries, type Patience } from './patience.js';

/**
 * For so long a call is lost if its page dies without a word: another one takes it up afterwards. Renewed
 * thrice as often.
 */
const LEASE_MS = 9_000;

/**
 * Leases of client tools' calls, kept until the call is over or the page is left. The holder is this load
 * of the page: what is kept for a tab is copied with the tab.
 */
export function createCallLease(
  requests: Pick<ChatRequests, 'lease'>,
  patience: Patience,
): LeaseClientCall {
  const holder = createHolder();
  return async ({ sessionId, toolCallId, abortSignal }) => {
    const ask = (): Promise<unknown> =>
      requests.lease(sessionId, toolCallId, { holder, forMs: LEASE_MS }, { signal: abortSignal });
    const giveBack = (): void => {
      const given = requests.lease(
        sessionId,
        toolCallId,
        { holder, forMs: 0 },
        { keepalive: true },
      );
      given.catch(() => undefined);
    };
    try {
      await persist(ask, new Retries(patience), abortSignal);
    } catch (error) {
      if (!(error instanceof ChatRequestError)) throw error;
      return error.code === 'call_leased' ? readWait(error) : false;
    }
    void renew(ask, abortSignal);
    // A page that is reloaded, or another one, takes the call up at once.
    if (typeof addEventListener === 'function') {
      addEventListener('pagehide', giveBack, { signal: abortSignal });
    }
    return true;
  };
}

async function renew(ask: () => Promise<unknown>, signal: AbortSignal): Promise<void> {
  try {
    for (;;) {
      await pause(LEASE_MS / 3, signal);
      // Whoever has it by now: the call is being carried out here.
      await ask().catch(() => undefined);
    }
  } catch {
    // The call is over.
  }
}

/** How long another page has it, in ms. */
function readWait({ responseBody }: ChatRequestError): number {
  const { detail } = JSON.parse(responseBody) as { detail?: { forMs?: number } };
  return detail?.forMs ?? LEASE_MS;
}

/** Not a UUID: browsers make those on secure pages only. */
function createHolder(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(12));
  return `page-${Array.from(bytes, (byte) => byte.toString(36)).join('')}`;
}
