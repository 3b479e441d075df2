import { HEADERS } from '../../protocol/http.js';

/** Where a reader wants to go on: everything up to `sequence` is known to it. */
export interface ResumePosition {
  sequence: number;
  /**
   * `exact` readers have every part up to there; `whole` ones rebuild the message from its beginning;
   * pages that have `seen` it hold the message up to there.
   */
  kind: 'exact' | 'whole' | 'seen';
}

type HeaderBag = Headers | Readonly<Record<string, string | string[] | undefined>>;

/**
 * The position that a request's headers name. `Last-Event-ID` comes from readers of the raw event
 * stream, which go on where they were; the other two from pages that hold a snapshot.
 */
export function readResumePosition(headers: HeaderBag): ResumePosition | undefined {
  for (const name of [HEADERS.resumeFromSequence, HEADERS.lastEventId, HEADERS.resumeAt]) {
    const sequence = parsePosition(readHeader(headers, name));
    if (sequence === undefined) continue;
    return { sequence, kind: name === HEADERS.lastEventId ? 'exact' : 'whole' };
  }
  return undefined;
}

/**
 * The sequence that a request's headers name, or the value of one such header; undefined if there is
 * none, or it is no number.
 */
export function extractResumePosition(
  headers: HeaderBag | string | null | undefined,
): number | undefined {
  if (headers === null || headers === undefined) return undefined;
  return typeof headers === 'string'
    ? parsePosition(headers)
    : readResumePosition(headers)?.sequence;
}

function readHeader(headers: HeaderBag, name: string): string | undefined {
  if (headers instanceof Headers) return headers.get(name) ?? undefined;
  const key = Object.keys(headers).find((candidate) => candidate.toLowerCase() === name);
  const value = key === undefined ? undefined : headers[key];
  return typeof value === 'string' ? value : value?.[0];
}

function parsePosition(text: string | undefined): number | undefined {
  if (text === undefined || !/^\d{1,15}$/.test(text.trim())) return undefined;
  return Number(text);
}
