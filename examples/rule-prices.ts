import { isScriptedModel, type LlmSettings, type Pricing } from '../agents/index.js';

/** Invented, in the range of small models: cost and budgets can then be tried without a key. */
export const RULE_PRICES: Pricing = { inputPerMTok: 1, outputPerMTok: 5 };

/** The scripted model with prices; any other model's are not known here. */
export function withRulePrices(
  model: LlmSettings['model'],
): Pick<LlmSettings, 'model' | 'pricing'> {
  return { model, ...(isScriptedModel(model) && { pricing: RULE_PRICES }) };
}
