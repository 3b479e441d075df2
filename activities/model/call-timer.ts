import type { UsedModel } from '../../protocol/run-meter.js';
import type { ActivityDeps } from '../deps.js';

/** Measures one call of a model. */
export interface CallTimer {
  /** The model that is asked. */
  uses: (model: { provider: string; modelId: string }) => void;
  begins: () => void;
  onPart: () => void;
  /** @param code how the provider failed */
  ended: (code: string | undefined) => void;
  /** Undefined before the model is known. */
  model: () => UsedModel | undefined;
}

export function createCallTimer(
  { meter }: Pick<ActivityDeps, 'meter'>,
  agent: string,
): CallTimer {
  let used: UsedModel | undefined;
  let beganMs: number | undefined;
  let firstMs: number | undefined;
  return {
    uses: ({ provider, modelId }) => {
      used = { agent, provider: toProviderName(provider), model: modelId };
    },
    begins: () => {
      beganMs = performance.now();
    },
    onPart: () => {
      firstMs ??= performance.now();
    },
    ended: (code) => {
      if (used === undefined || beganMs === undefined) return;
      const seconds = (performance.now() - beganMs) / 1_000;
      const firstSeconds = firstMs === undefined ? undefined : (firstMs - beganMs) / 1_000;
      meter?.({ kind: 'model_called', ...used, seconds, firstSeconds, code });
    },
    model: () => used,
  };
}

/** The AI SDK names a provider with its endpoint: `openai.responses`. */
function toProviderName(provider: string): string {
  return provider.split('.')[0] ?? provider;
}
