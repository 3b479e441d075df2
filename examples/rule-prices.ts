import { isScriptedModel, type LlmSettings, type Pricing } from '../agents/index.js';

/** Invented prices in the range of small models, for trying cost and budgets without a key. */
export const RULE_PRICES: Pricing = { inputPerMTok: 1, outputPerMTok: 5 };

/** Adds prices to the scripted model; other models stay unpriced here. */
export function withRulePrices(
  model: LlmSettings['model'],
): Pick<LlmSettings, 'model' | 'pricing'> {
  return { model, ...(isScriptedModel(model) && { pricing: RULE_PRICES }) };
}
