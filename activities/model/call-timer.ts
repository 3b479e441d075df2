import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import type { Answered } from '../../protocol/rows.js';
import type { UsedModel } from '../../protocol/run-meter.js';
import type { RunUsage } from '../../stores/contract/runs.js';
import type { ActivityDeps } from '../deps.js';
import { createAnswerNotes } from './answered.js';

/** A call of a model that is over, and whose usage the record has. */
export interface TimedCall {
  provider: string;
  model: string;
  /** ms since the epoch. */
  beganAt: number;
  ms: number;
  /** Until the first part of the reply. */
  firstMs: number | undefined;
  /** How the provider failed. */
  code: string | undefined;
  usage: RunUsage | undefined;
  /** Of the provider, as far as the model names it. */
  server?: { address: string; port: number } | undefined;
}

/** Measures one call of a model. */
export interface CallTimer {
  /** The model that is asked. */
  uses: (model: { provider: string; modelId: string }) => void;
  begins: () => void;
  onPart: (part: LanguageModelV4StreamPart) => void;
  /** What the provider reported of its reply. */
  answered: () => Answered | undefined;
  /** @param code how the provider failed */
  ended: (code: string | undefined) => void;
  /** The record has what the call used. */
  used: (usage: RunUsage | undefined) => void;
}

interface TimerScope {
  run: { agent: string; sessionId: string; runId: string };
  report: ((call: TimedCall) => void) | undefined;
  /** What the provider reports is noted: the agent's own code is given the steps. */
  isNoted: boolean;
}

export function createCallTimer(
  { meter }: Pick<ActivityDeps, 'meter'>,
  { run: { agent, sessionId, runId }, report, isNoted }: TimerScope,
): CallTimer {
  let beganAt = 0;
  let server: TimedCall['server'];
  let ms: number | undefined;
  let failure: string | undefined;
  let asked: UsedModel | undefined;
  let beganMs: number | undefined;
  let firstMs: number | undefined;
  const notes = isNoted ? createAnswerNotes() : undefined;
  return {
    answered: () => notes?.read(),
    uses: (model) => {
      const { provider, modelId } = model;
      notes?.begins(model);
      if (report !== undefined) server = serverOf(model);
      asked = { agent, provider: toProviderName(provider), model: modelId };
    },
    begins: () => {
      beganMs = performance.now();
      if (report !== undefined) beganAt = Date.now();
    },
    onPart: (part) => {
      firstMs ??= performance.now();
      notes?.hear(part);
    },
    ended: (code) => {
      if (asked === undefined || beganMs === undefined) return;
      ms = performance.now() - beganMs;
      failure = code;
      const seconds = ms / 1_000;
      const firstSeconds = firstMs === undefined ? undefined : (firstMs - beganMs) / 1_000;
      meter?.({ kind: 'model_called', ...asked, seconds, firstSeconds, code });
    },
    used: (usage) => {
      if (report !== undefined && asked !== undefined && beganMs !== undefined) {
        const { provider, model } = asked;
        const first = firstMs === undefined ? undefined : firstMs - beganMs;
        // A call that was cut is over now.
        const took = ms ?? performance.now() - beganMs;
        report({
          provider,
          model,
          beganAt,
          ms: took,
          firstMs: first,
          code: failure,
          usage,
          server,
        });
      }
      if (asked !== undefined && usage !== undefined) {
        meter?.({ kind: 'tokens_used', run: { sessionId, runId }, ...asked, usage });
      }
    },
  };
}

/** The AI SDK names a provider with its endpoint: `openai.responses`. */
function toProviderName(provider: string): string {
  return provider.split('.')[0] ?? provider;
}

/** Host and port that a model of the AI SDK calls; its interface does not name them, so not all do. */
export function serverOf(model: object): { address: string; port: number } | undefined {
  const { config } = model as { config?: { baseURL?: unknown; url?: unknown } };
  if (typeof config !== 'object') return undefined;
  try {
    const { hostname, port, protocol } = new URL(addressIn(config, model));
    return {
      address: hostname,
      port: port === '' ? (protocol === 'http:' ? 80 : 443) : Number(port),
    };
  } catch {
    return undefined;
  }
}

type ToUrl = (of: { path: string; modelId: string | undefined }) => unknown;

function addressIn({ baseURL, url }: { baseURL?: unknown; url?: unknown }, model: object): string {
  if (typeof baseURL === 'string') return baseURL;
  if (typeof url !== 'function') return '';
  const { modelId } = model as { modelId?: string };
  return String((url as ToUrl)({ path: '/', modelId }));
}
