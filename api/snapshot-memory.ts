import type { Request, Response } from 'express';
import type { FrontendSnapshot } from '../protocol/http.js';

/**
 * Remembers in the viewer whether its newest snapshot showed a turn at work: its GET may come after
 * the turn has paused or ended, and must then still be given the whole turn.
 */
const COOKIE = 'helix-snapshot';
const SECONDS = 60;

/** Notes what a snapshot showed: the start of the turn at work, or `none`. */
export function writeSnapshotMemory(
  request: Request,
  response: Response,
  snapshot: Pick<FrontendSnapshot, 'status' | 'startSequence'>,
): void {
  const seen = snapshot.status === 'active' ? String(snapshot.startSequence ?? 0) : 'none';
  const path = request.originalUrl.replace(/\/snapshot(\?.*)?$/, '');
  response.append(
    'set-cookie',
    `${COOKIE}=${seen}; Path=${path}; Max-Age=${String(SECONDS)}; HttpOnly; SameSite=Lax`,
  );
}

/** Start sequence of the turn seen at work, null if none was; undefined if the viewer remembers nothing. */
export function readSnapshotMemory(request: Request): number | null | undefined {
  const match = /(?:^|;\s*)helix-snapshot=(\d{1,15}|none)(?:;|$)/.exec(request.get('cookie') ?? '');
  const seen = match?.[1];
  if (seen === undefined) return undefined;
  return seen === 'none' ? null : Number(seen);
}
