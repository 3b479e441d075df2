import type { Request, Response } from 'express';
import type { FrontendSnapshot } from '../protocol/http.js';
import { readCookie } from './middleware/read-cookie.js';

/**
 * Remembers in the viewer whether its newest snapshot showed a turn at work: its GET may come after
 * the turn has paused or ended, and must then still be given the whole turn.
 */
const COOKIE = 'helix-snapshot';
const SECONDS = 60;

/**
 * Notes what a snapshot showed, the start of the turn at work or `none`, for the session's own paths.
 * They are made of what was read from the URL: its query could name other attributes of the cookie.
 */
export function writeSnapshotCookie(
  { baseUrl }: Request,
  response: Response,
  sessionId: string,
  snapshot: Pick<FrontendSnapshot, 'status' | 'startSequence'>,
): void {
  const seen = snapshot.status === 'active' ? String(snapshot.startSequence ?? 0) : 'none';
  response.append(
    'set-cookie',
    `${COOKIE}=${seen}; Path=${baseUrl}/${sessionId}; Max-Age=${String(SECONDS)}; HttpOnly; SameSite=Lax`,
  );
}

/** Start sequence of the turn seen at work, null if none was; undefined if the viewer remembers nothing. */
export function readSnapshotCookie(request: Request): number | null | undefined {
  const seen = readCookie(request, COOKIE);
  if (seen === 'none') return null;
  return seen !== undefined && /^\d{1,15}$/.test(seen) ? Number(seen) : undefined;
}
