/** The optional capabilities of this package, each a folder of its own; docs/extensions.md. */
import type { Extension } from '../extension.js';
import { audit } from './audit/index.js';
import { operatorConsole } from './console/index.js';
import { files } from './files/index.js';
import { fronts } from './fronts/index.js';
import { limits, limitsOfSettings, toQuotas, type LimitOptions } from './limits/index.js';
import { people } from './people/index.js';
import { schedules } from './schedules/index.js';

export type { Extension } from '../extension.js';
export type { Budget, Budgets, LimitOptions, Quotas } from './limits/index.js';
export { audit, files, fronts, limits, limitsOfSettings, operatorConsole, people };
export { schedules, toQuotas };

/** Options by extension. */
export interface ExtensionOptions {
  limits?: LimitOptions;
}

/** All of them, as the programs `api` and `worker` compose them. */
export function allExtensions({ limits: most }: ExtensionOptions = {}): Extension[] {
  return [files(), fronts(), operatorConsole(), audit(), people(), schedules(), limits(most)];
}
