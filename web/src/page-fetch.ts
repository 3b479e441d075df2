import { HEADERS } from '../../protocol/wire-names.js';
import type { Fetch } from './api-client.js';

/** The browser's `fetch`; says that the request comes from this page, for the audit trail. */
export const pageFetch: Fetch = (input, init) => {
  const headers = new Headers(init?.headers);
  headers.set(HEADERS.via, 'page');
  return fetch(input, { ...init, headers });
};
