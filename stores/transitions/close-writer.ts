import { releaseWriter, readOwner } from './lib/attempts.js';
import { only } from './lib/request.js';
import type { Session } from './lib/session.js';

export interface CloseWriterRequest {
  name: string;
  token: number;
}

/**
 * close writer: releases a writer that belongs to no run. Its entries stay: no later attempt
 * withdraws them.
 *
 * @returns `closed` · `fenced`, another attempt owns the writer
 */
export function closeWriter(session: Session, { name, token }: CloseWriterRequest): string {
  const owner = readOwner(session, name).token;
  if (owner !== 0 && owner !== token) return only('fenced');
  releaseWriter(session, name);
  return only('closed');
}
