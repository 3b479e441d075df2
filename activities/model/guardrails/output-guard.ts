import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import type { Guardrails } from '../../../agents/guardrails.js';
import type { HookPlace } from '../../../agents/step-hooks.js';
import { checkText } from './check-text.js';

type Part = LanguageModelV4StreamPart;
type Delta = Extract<Part, { type: 'text-delta' | 'reasoning-delta' }>;

/** Checks a model's reply on its way; one for each call of a model. */
export interface OutputGuard {
  /** The parts that may be written now. @throws GuardrailError */
  pass: (part: Part) => Promise<Part[]>;
  /** The text for the person, once a check has refused the reply. */
  refused: () => string | undefined;
}

/** A text of this length is checked before its end, characters. */
const MOST_HELD = 262_144;

const SENTENCE_END = /^[\s\S]*(?:[.!?]["')\]]*\s|[。！？]|\n)/;

/**
 * Holds text back until it was checked. Calls, files and sources are held until the end of the reply, so that
 * a reply that is refused carries out nothing; what the model writes after them waits with them. Of a refused
 * reply only the end is still read, for its usage.
 */
export function createOutputGuard(
  { output = [], every = 'block', timeoutMs }: Guardrails,
  place: HookPlace,
  signal: AbortSignal,
): OutputGuard {
  /** Text that waits for its check, by block. */
  const waiting = new Map<string, Delta>();
  const soFar = { text: '', reasoning: '' };
  let held: Part[] | undefined;
  let refused: string | undefined;

  async function release(key: string, length: number): Promise<Part[]> {
    const delta = waiting.get(key);
    if (delta === undefined || length === 0 || refused !== undefined) return [];
    const text = delta.delta.slice(0, length);
    if (length === delta.delta.length) waiting.delete(key);
    else waiting.set(key, { ...delta, delta: delta.delta.slice(length) });
    const kind = delta.type === 'text-delta' ? 'text' : 'reasoning';
    const subject = { ...place, kind, soFar: soFar[kind] } as const;
    const checked = await checkText(output, subject, text, { timeoutMs, signal });
    if ('refused' in checked) {
      ({ refused } = checked);
      return [];
    }
    soFar[kind] += checked.text;
    return hold([{ ...delta, delta: checked.text }]);
  }

  /** Keeps the order of parts once some of them wait for the end. */
  function hold(parts: Part[]): Part[] {
    if (held === undefined) return parts;
    held.push(...parts);
    return [];
  }

  async function releaseAll(): Promise<Part[]> {
    const parts: Part[] = [];
    for (const [key, { delta }] of [...waiting]) parts.push(...(await release(key, delta.length)));
    return parts;
  }

  async function pass(part: Part): Promise<Part[]> {
    if (refused !== undefined && part.type !== 'finish' && part.type !== 'error') return [];
    switch (part.type) {
      case 'text-delta':
      case 'reasoning-delta': {
        const key = `${part.type} ${part.id}`;
        const delta = (waiting.get(key)?.delta ?? '') + part.delta;
        waiting.set(key, { ...part, delta });
        return release(key, lengthToCheck(delta, every));
      }
      case 'text-end':
      case 'reasoning-end': {
        const key = `${part.type === 'text-end' ? 'text-delta' : 'reasoning-delta'} ${part.id}`;
        const rest = await release(key, waiting.get(key)?.delta.length ?? 0);
        return refused === undefined ? [...rest, ...hold([part])] : rest;
      }
      case 'text-start':
      case 'reasoning-start':
        return hold([part]);
      case 'finish': {
        const rest = await releaseAll();
        if (refused === undefined) return [...rest, ...(held ?? []), part];
        return [...rest, ...toRefusalParts(refused, part)];
      }
      case 'stream-start':
      case 'response-metadata':
      case 'raw':
      case 'error':
        return [part];
      default:
        held ??= [];
        return hold([part]);
    }
  }

  return { pass, refused: () => refused };
}

/** How much of a text is checked now; 0 for nothing yet. Pure. */
export function lengthToCheck(text: string, every: NonNullable<Guardrails['every']>): number {
  if (text.length >= MOST_HELD) return text.length;
  if (every === 'block') return 0;
  if (every === 'sentence') return SENTENCE_END.exec(text)?.[0].length ?? 0;
  return text.length >= every ? text.length : 0;
}

/** A refusal as the end of a reply. Pure. */
export function toRefusalParts(
  text: string,
  finish: Extract<Part, { type: 'finish' }> = UNASKED,
): Part[] {
  const id = 'guardrail';
  return [
    { type: 'text-start', id },
    { type: 'text-delta', id, delta: text },
    { type: 'text-end', id },
    { ...finish, finishReason: { unified: 'content-filter', raw: undefined } },
  ];
}

/** The end of a reply for which no model was asked. */
const UNASKED: Extract<Part, { type: 'finish' }> = {
  type: 'finish',
  finishReason: { unified: 'content-filter', raw: undefined },
  usage: {
    inputTokens: { total: 0, noCache: 0, cacheRead: undefined, cacheWrite: undefined },
    outputTokens: { total: 0, text: 0, reasoning: undefined },
  },
};
