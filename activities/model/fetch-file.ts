import { endsWithin } from '../../protocol/time.js';
import https from 'node:https';
import type { IncomingMessage } from 'node:http';
import { guardedLookup, isPermittedUrl } from '../../agents/guarded-lookup.js';
import { LIMITS } from '../../protocol/limits.js';

/** Thrown for a file that cannot be fetched; its message goes to the log only. */
export class FileRefusedError extends Error {
  override readonly name = 'FileRefusedError';
}

/** Fetches a file by its https address. @throws FileRefusedError, and errors of the network */
export type FetchFile = (url: string, signal: AbortSignal) => Promise<Uint8Array>;

export interface FetchFileOptions {
  /** Allowed hosts, with the port if it is not 443. */
  hosts: readonly string[];
  /** Default: `https.request`. */
  request?: typeof https.request;
  /** Default: resolves public addresses only, and the request connects to the checked address. */
  lookup?: ReturnType<typeof guardedLookup>;
}

const REDIRECTS = 3;
/** Time limit of a file with its redirects, ms. */
const WITHIN_MS = 20_000;
const PUBLIC = { isNamed: false, isPrivate: false };

/**
 * Fetches files from the listed hosts over https, from public addresses only. It checks each
 * address as it connects and each redirect like the first request, and it bounds time and size.
 */
export function createFetchFile({
  hosts,
  request = https.request,
  lookup = guardedLookup(PUBLIC, () => new FileRefusedError('its address is not public')),
}: FetchFileOptions): FetchFile {
  return async (address, signal) => {
    const over = endsWithin(WITHIN_MS, signal);
    let url = new URL(address);
    for (let hops = 0; hops <= REDIRECTS; hops += 1) {
      if (!isFetched(url, hosts)) throw new FileRefusedError('its host is not in the list');
      const answer = await open(url, { request, lookup, signal: over });
      const { statusCode = 0, headers } = answer;
      if (statusCode >= 200 && statusCode < 300) return readBounded(answer);
      answer.destroy();
      const { location } = headers;
      if (statusCode < 300 || statusCode >= 400 || location === undefined) {
        throw new FileRefusedError(`its host answered ${String(statusCode)}`);
      }
      if (!URL.canParse(location, url)) throw new FileRefusedError('its host leads nowhere');
      url = new URL(location, url);
    }
    throw new FileRefusedError('its host leads on and on');
  };
}

function isFetched(url: URL, hosts: readonly string[]): boolean {
  if (url.protocol !== 'https:' || url.username !== '' || url.password !== '') return false;
  return isPermittedUrl(url, PUBLIC) && hosts.includes(url.host);
}

function open(
  url: URL,
  input: Pick<Required<FetchFileOptions>, 'request' | 'lookup'> & {
    signal: AbortSignal;
  },
): Promise<IncomingMessage> {
  const { request, ...options } = input;
  return new Promise((resolve, reject) => {
    const headers = { accept: '*/*', 'user-agent': 'helix-temporal' };
    const { lookup, signal } = options;
    const sent = request(url, { headers, signal, agent: false, lookup }, resolve);
    sent.on('error', reject);
    sent.end();
  });
}

async function readBounded(answer: IncomingMessage): Promise<Uint8Array> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of answer as AsyncIterable<Buffer>) {
    bytes += piece.length;
    if (bytes > LIMITS.fileBytes) {
      answer.destroy();
      throw new FileRefusedError('it is too large');
    }
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}
