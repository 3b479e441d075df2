import type { Request, Response } from 'express';
import type { FrontendSnapshot } from '../protocol/replies.js';

/**
 * This cookie records whether the viewer's newest snapshot or history showed an active turn. The GET that follows
 * may arrive after the turn has paused or ended, and must then still replay the whole turn.
 */
const COOKIE = 'helix-snapshot';
const SECONDS = 60;

/**
 * Sets the start sequence of the active turn that a snapshot showed, or `none`, for the paths of its
 * session. The path is made of parsed values: raw text could add attributes to the cookie.
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
    `${COOKIE}=${seen}; Path=${baseUrl}/api/chat/${sessionId}; Max-Age=${String(SECONDS)}; HttpOnly; SameSite=Lax`,
  );
}

/**
 * Returns the start of the active turn that the viewer saw; null if it saw none, undefined without
 * the cookie.
 */
export function readSnapshotCookie(request: Request): number | null | undefined {
  const seen = readCookie(request, COOKIE);
  if (seen === 'none') return null;
  return seen !== undefined && /^\d{1,15}$/.test(seen) ? Number(seen) : undefined;
}

export function readCookie(request: Request, name: string): string | undefined {
  for (const pair of (request.get('cookie') ?? '').split(';')) {
    const at = pair.indexOf('=');
    if (at > 0 && pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim();
  }
  return undefined;
}
