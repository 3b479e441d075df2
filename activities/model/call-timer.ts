import type { UsedModel } from '../../protocol/run-meter.js';
import type { RunUsage } from '../../stores/contract/runs.js';
import type { ActivityDeps } from '../deps.js';

/** Measures one call of a model. */
export interface CallTimer {
  /** The model that is asked. */
  uses: (model: { provider: string; modelId: string }) => void;
  begins: () => void;
  onPart: () => void;
  /** @param code how the provider failed */
  ended: (code: string | undefined) => void;
  /** The record has what the call used. */
  used: (usage: RunUsage | undefined) => void;
}

export function createCallTimer({ meter }: Pick<ActivityDeps, 'meter'>, agent: string): CallTimer {
  let asked: UsedModel | undefined;
  let beganMs: number | undefined;
  let firstMs: number | undefined;
  return {
    uses: ({ provider, modelId }) => {
      asked = { agent, provider: toProviderName(provider), model: modelId };
    },
    begins: () => {
      beganMs = performance.now();
    },
    onPart: () => {
      firstMs ??= performance.now();
    },
    ended: (code) => {
      if (asked === undefined || beganMs === undefined) return;
      const seconds = (performance.now() - beganMs) / 1_000;
      const firstSeconds = firstMs === undefined ? undefined : (firstMs - beganMs) / 1_000;
      meter?.({ kind: 'model_called', ...asked, seconds, firstSeconds, code });
    },
    used: (usage) => {
      if (asked !== undefined && usage !== undefined) {
        meter?.({ kind: 'tokens_used', ...asked, usage });
      }
    },
  };
}

/** The AI SDK names a provider with its endpoint: `openai.responses`. */
function toProviderName(provider: string): string {
  return provider.split('.')[0] ?? provider;
}
