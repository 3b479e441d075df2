import express, { type RequestHandler } from 'express';
import { LIMITS } from '../../protocol/limits.js';
import { isDeeperThan } from './json-depth.js';

/** Clients of the AI SDK's workflow transport send JSON as text. */
const JSON_TYPES = ['application/json', 'application/*+json', 'text/plain'];

/** Types of errors of this parser, beside its own. */
export const TOO_DEEP = 'json.too.deep';
export const NOT_UTF8 = 'json.not.utf8';

/** Reads JSON bodies that are neither too large nor too deep. */
export function createJsonBody(): RequestHandler {
  return express.json({
    limit: LIMITS.bodyBytes,
    type: JSON_TYPES,
    verify: (_request, _response, body, encoding) => {
      if (encoding !== 'utf-8') throw refuse(NOT_UTF8);
      if (isDeeperThan(LIMITS.jsonDepth, body)) throw refuse(TOO_DEEP);
    },
  });
}

/** The parser gives the type on, and sets a status of its own. */
function refuse(type: string): Error {
  return Object.assign(new Error(type), { type });
}
