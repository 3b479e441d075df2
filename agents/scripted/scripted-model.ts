import type { LanguageModelV4 } from '@ai-sdk/provider';
import { createReplyModel } from './reply-model.js';
import { toScriptedReply } from './scripted-reply.js';

const PROVIDER = 'helix-scripted';

/**
 * The model that needs no key: performs the script in the newest user message, so that every path
 * of the runtime can be driven from outside; other texts get a short reply that quotes them.
 */
export function createScriptedModel(): LanguageModelV4 {
  return createReplyModel({ provider: PROVIDER, modelId: 'scripted', toReply: toScriptedReply });
}

/** Whether a model is the scripted one. */
export function isScriptedModel(model: unknown): boolean {
  return (
    typeof model === 'object' &&
    model !== null &&
    'provider' in model &&
    model.provider === PROVIDER
  );
}
