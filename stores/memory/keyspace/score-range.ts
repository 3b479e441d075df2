import { parseDouble } from './doubles.js';
import { RedisError } from './reply.js';
import { firstPlace, type Ranked } from './sorted-set.js';
import { cString, isSpace } from './text.js';

export interface ScoreRange {
  min: number;
  max: number;
  isMinExclusive: boolean;
  isMaxExclusive: boolean;
}

/** A score to be stored. */
export function requireScore(text: string): number {
  const { value, end, outOfRange } = parseDouble(text);
  const isWhole = text !== '' && end === text.length && !isSpace(text.charCodeAt(0));
  if (!isWhole || outOfRange || Number.isNaN(value)) {
    throw new RedisError('ERR value is not a valid float');
  }
  return value;
}

export function parseScoreRange(min: string, max: string): ScoreRange {
  const isMinExclusive = min.startsWith('(');
  const isMaxExclusive = max.startsWith('(');
  return {
    min: parseEdge(isMinExclusive ? min.slice(1) : min),
    max: parseEdge(isMaxExclusive ? max.slice(1) : max),
    isMinExclusive,
    isMaxExclusive,
  };
}

/** More is taken than for scores: white space before it, nothing at all for 0. */
function parseEdge(text: string): number {
  const edge = cString(text);
  const { value, end } = parseDouble(edge);
  if (end !== edge.length || Number.isNaN(value)) {
    throw new RedisError('ERR min or max is not a float');
  }
  return value;
}

/** Places from `from` to before `to`; `to` may be lower where the range is empty. */
export function placesInRange(
  order: readonly Ranked[],
  { min, max, isMinExclusive, isMaxExclusive }: ScoreRange,
): { from: number; to: number } {
  return {
    from: firstPlace(order, ({ score }) => (isMinExclusive ? score > min : score >= min)),
    to: firstPlace(order, ({ score }) => (isMaxExclusive ? score >= max : score > max)),
  };
}
