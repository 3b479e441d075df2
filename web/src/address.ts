import { useSyncExternalStore } from 'react';

const CHANGED = 'page:address';

function subscribe(notify: () => void): () => void {
  window.addEventListener('popstate', notify);
  window.addEventListener(CHANGED, notify);
  return () => {
    window.removeEventListener('popstate', notify);
    window.removeEventListener(CHANGED, notify);
  };
}

/** Returns the path and query of the address bar. */
export function readAddress(): string {
  return location.pathname + location.search;
}

/** Returns what `read` makes of the address bar, and renders again when that changes. */
export function useAddress(read = readAddress): string {
  return useSyncExternalStore(subscribe, read);
}

/**
 * Navigates to an address without a page load; Back returns.
 *
 * @param state survives a reload with the address
 */
export function goTo(
  address: string,
  { state = null, replace = false }: { state?: unknown; replace?: boolean } = {},
): void {
  const { pathname, search } = new URL(address, location.href);
  if (pathname + search === readAddress()) return;
  if (replace) history.replaceState(state, '', address);
  else history.pushState(state, '', address);
  window.dispatchEvent(new Event(CHANGED));
}
