import type { IncomingMessage } from 'node:http';
import express, { type RequestHandler } from 'express';
import { LIMITS } from '../../protocol/limits.js';
import { isDeeperThan } from './json-depth.js';
import { mayHaveLoneSurrogates, toWellFormed } from './well-formed.js';

/** Clients of the AI SDK's workflow transport send JSON as text. */
const JSON_TYPES = ['application/json', 'application/*+json', 'text/plain'];

/** Types of errors of this parser, beside its own. */
export const TOO_DEEP = 'json.too.deep';
export const NOT_UTF8 = 'json.not.utf8';

/** Reads JSON bodies that are neither too large nor too deep; text in them is whole characters. */
export function createJsonBody(): RequestHandler[] {
  const doubtful = new WeakSet<IncomingMessage>();
  const parse = express.json({
    limit: LIMITS.bodyBytes,
    type: JSON_TYPES,
    verify: (request, _response, body, encoding) => {
      if (encoding !== 'utf-8') throw refuse(NOT_UTF8);
      if (isDeeperThan(LIMITS.jsonDepth, body)) throw refuse(TOO_DEEP);
      if (mayHaveLoneSurrogates(body)) doubtful.add(request);
    },
  });
  const mend: RequestHandler = (request, _response, next) => {
    if (doubtful.has(request)) request.body = toWellFormed(request.body);
    next();
  };
  return [parse, mend];
}

/** The parser gives the type on, and sets a status of its own. */
function refuse(type: string): Error {
  return Object.assign(new Error(type), { type });
}
