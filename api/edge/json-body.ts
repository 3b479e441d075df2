import type { IncomingMessage } from 'node:http';
import express, { type RequestHandler } from 'express';
import { HelixError } from '../../protocol/errors.js';
import { LIMITS } from '../../protocol/limits.js';
import { isDeeperThan } from './json-depth.js';
import { mayHaveLoneSurrogates, toWellFormed } from './well-formed.js';

/** Clients of the AI SDK's workflow transport send JSON as text. */
const JSON_TYPES = ['application/json', 'application/*+json', 'text/plain'];

/** Methods whose bodies are read. */
const TAKING = new Set(['POST', 'PATCH']);

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
  return [refuseOthers, parse, mend];
}

/** What is not read must not be taken for nothing: an abort would become an interrupt. */
const refuseOthers: RequestHandler = (request, _response, next) => {
  const { 'content-type': type, 'content-length': length = '0' } = request.headers;
  const hasBody = length !== '0' || (type !== undefined && request.headers['transfer-encoding']);
  if (TAKING.has(request.method) && hasBody && request.is(JSON_TYPES) === false) {
    throw new HelixError('unsupported_media_type', 'Send JSON as application/json.');
  }
  next();
};

/** The parser gives the type on, and sets a status of its own. */
function refuse(type: string): Error {
  return Object.assign(new Error(type), { type });
}
