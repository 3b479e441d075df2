import {
  defineSearchAttributeKey,
  SearchAttributeType,
  TypedSearchAttributes,
  type SearchAttributePair,
} from '@temporalio/common';
import type { RunInput } from '../protocol/run.js';

/** Static texts of a run in the Temporal UI. */
export interface RunLabels {
  tenant?: string;
  details: string;
}

const keys = {
  AgentSession: defineSearchAttributeKey('AgentSession', SearchAttributeType.KEYWORD),
  AgentName: defineSearchAttributeKey('AgentName', SearchAttributeType.KEYWORD),
  AgentStatus: defineSearchAttributeKey('AgentStatus', SearchAttributeType.KEYWORD),
  AgentTenant: defineSearchAttributeKey('AgentTenant', SearchAttributeType.KEYWORD),
  AgentModel: defineSearchAttributeKey('AgentModel', SearchAttributeType.KEYWORD),
  AgentTurn: defineSearchAttributeKey('AgentTurn', SearchAttributeType.INT),
};

/** What runs are found by in the Temporal UI. */
export function toAttributes(input: RunInput, { tenant }: RunLabels): TypedSearchAttributes {
  const pairs: SearchAttributePair[] = [
    { key: keys.AgentSession, value: input.sessionId },
    { key: keys.AgentName, value: input.agent },
    { key: keys.AgentStatus, value: 'running' },
    { key: keys.AgentTurn, value: input.turn },
  ];
  if (tenant !== undefined) pairs.push({ key: keys.AgentTenant, value: tenant });
  if (input.model !== undefined) pairs.push({ key: keys.AgentModel, value: input.model });
  return new TypedSearchAttributes(pairs);
}
